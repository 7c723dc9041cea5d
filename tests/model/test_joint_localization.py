"""A model and the narration of one video: subtitles beside a file, a given file, or none."""

from dataclasses import replace

import numpy as np
import pytest

import crosstask as ct
from crosstask.model.joint_localization import narration_beside, narration_for
from crosstask.records import InputError
from tiny import tiny_corpus

TALK = "WEBVTT\n\n" + "\n\n".join(
    f"00:00:{a:02d}.000 --> 00:00:{a + 5:02d}.000\n{text}"
    for a, text in ((0, "hello there"), (5, "now pour milk"), (20, "then stir coffee"), (45, "and pour coffee"), (54, "goodbye"))
)
NOTHING = "WEBVTT\n\n" + "\n\n".join(
    f"00:00:{a:02d}.000 --> 00:00:{a + 5:02d}.000\n{text}" for a, text in ((0, "la la la"), (20, "do re mi"), (40, "fa so"))
)


@pytest.fixture(scope="module")
def model():
    return ct.train(tiny_corpus(n_segments=60))


@pytest.fixture(autouse=True)
def no_encoder(monkeypatch):
    monkeypatch.setattr("crosstask.text.encoders.choice.encoder_for_language", lambda language: None)


@pytest.fixture
def talk(tmp_path):
    path = tmp_path / "talk.vtt"
    path.write_text(TALK)
    return path


def test_narration_leads_where_features_contain_no_evidence(model, talk):
    found = model.localize(np.zeros((60, 6), np.float32), "1", narration=talk)
    moments = [step.moment_s for step in found.steps]
    assert 5 <= moments[0] < 13 and 20 <= moments[1] < 28 and 44 <= moments[2] < 53
    for step in found.steps:
        assert step.start_s <= step.moment_s < step.end_s
        assert step.shown and 0 < step.confidence < 1 and step.p_shown >= 0.5


def test_without_narration_the_features_decide_alone(model, talk):
    rows = tiny_corpus(n_segments=60).features.rows("-v1_1")
    alone = model.localize(rows, "1", narration=None)
    assert model.localize(rows, "1") == alone
    talk.write_text(NOTHING)
    assert model.localize(rows, "1", narration=talk) == alone


def test_speech_features_are_not_counted_twice(model, talk, caplog):
    rows = tiny_corpus(n_segments=60).features.rows("-v1_1")
    speaking = replace(model, feature_spec="log-mel,speech")
    assert speaking.localize(rows, "1", narration=talk) == model.localize(rows, "1")
    assert "contain speech already" in caplog.text


def test_subtitles_beside_a_video_file_are_taken_and_damaged_ones_are_not(model, talk, caplog):
    video = talk.with_suffix(".mp4")
    assert narration_beside(talk.with_suffix(".npy")) is None
    assert narration_for(model, video, "auto", "log-mel").words[0].text == "hello"
    assert narration_for(model, video, None, "log-mel") is None
    assert narration_for(model, video, "auto", "log-mel,speech") is None
    talk.write_text("")
    assert narration_for(model, video, "auto", "log-mel") is None
    assert "talk.vtt" in caplog.text


def test_methods_without_a_posterior_refuse_a_given_narration(talk):
    other = ct.train(tiny_corpus(), method="zhukov19")
    rows = tiny_corpus().features.rows("-v1_1")
    assert other.localize(rows, "1")
    with pytest.raises(InputError, match="'zhukov19' has no posterior"):
        other.localize(rows, "1", narration=talk)


def test_speech_in_another_language_is_not_used_and_said(model, talk, caplog):
    rows = tiny_corpus(n_segments=60).features.rows("-v1_1")
    talk.write_text(
        TALK.replace("now pour milk", "jetzt gießen wir die Milch in die Tasse").replace("hello there", "hallo und willkommen")
    )
    assert model.localize(rows, "1", narration=talk) == model.localize(rows, "1", narration=None)
    assert "the speech is in German, the step names are in English" in caplog.text
