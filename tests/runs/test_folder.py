import json
from dataclasses import replace

import numpy as np
import pytest

from crosstask.model.localization import localization_of
from crosstask.records import InputError, Narration, StepLabel, VideoKey, Word
from crosstask.runs import (
    LabelStore,
    RunLabel,
    note_replaced_videos,
    open_run,
    write_localizations,
    write_run,
)
from crosstask.runs.relevance import read_relevance, save_relevance
from tiny import tiny_run


def test_a_run_is_read_back_unchanged(tmp_path):
    folder, run, parses = tiny_run(tmp_path / "r")
    again = open_run(folder)
    assert again.run == run
    assert list(again.localizations["proposed"].values()) == parses
    scores = again.scores("proposed", VideoKey("1", "-v1_1"))
    assert scores is not None and scores.shape == (20, 3)
    assert again.scores("other", VideoKey("1", "-v1_1")) is None


def test_writing_again_gives_the_same_bytes(tmp_path):
    tiny_run(tmp_path / "a")
    tiny_run(tmp_path / "b")
    for path in sorted((tmp_path / "a").rglob("*.*")):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_a_folder_without_a_valid_run_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        open_run(tmp_path / "x")
    with pytest.raises(InputError, match=r"no run.json"):
        open_run(tmp_path)
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(InputError, match="not a run description"):
        open_run(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps({"format": 7}))
    with pytest.raises(InputError, match="format 7"):
        open_run(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps({"format": 1}))
    with pytest.raises(InputError, match="damaged"):
        open_run(tmp_path)


def test_ids_cannot_lead_out_of_the_folder(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    with pytest.raises(InputError, match="cannot name a file"):
        open_run(folder).scores("../..", VideoKey("1", "x"))
    with pytest.raises(InputError, match="cannot name a file"):
        open_run(folder).scores("proposed", VideoKey("..", "/x"))


def test_localizations_of_other_steps_than_those_of_the_run_are_an_error(tmp_path):
    """As while a run with an edited step list is written: a label of step 2 would go to another step."""
    folder, run, parses = tiny_run(tmp_path / "r")
    opened = open_run(folder)
    assert opened.localizations
    longer = replace(run.tasks["1"], steps=("boil milk", *run.tasks["1"].steps))
    write_localizations(folder, {"proposed": [localization_of(longer, np.zeros((20, 4)), one.video) for one in parses]})
    for reader in (opened, open_run(folder)):
        with pytest.raises(InputError, match=r"task .1. has other steps than in run\.json"):
            _ = reader.localizations


def test_labels_of_a_person_replace_the_answers_of_every_method_at_once(tmp_path):
    from crosstask.records import StepLabel
    from crosstask.runs import RunLabel

    folder, run, _ = tiny_run(tmp_path / "r")
    opened, key = open_run(folder), VideoKey("1", "-v1_1")
    before = opened.localizations["proposed"][key]
    assert before.steps[1].by == "machine" and opened.counts().corrected == 0
    change = LabelStore(folder, run.tasks).append(
        key, [RunLabel(1, "stir coffee", StepLabel(1, moment_s=7.0)), RunLabel(2, "pour coffee", StepLabel(2))], "viewer"
    )
    after = opened.localizations["proposed"][key]
    assert (after.steps[1].moment_s, after.steps[1].by) == (7.0, "person") and not after.steps[2].shown
    assert after.steps[0] == before.steps[0] and opened.counts().corrected == 2
    assert opened.machine_localizations["proposed"][key] == before
    opened.labels.undo(change.id)
    assert opened.localizations["proposed"][key] == before


def test_only_transcripts_of_the_run_are_removed(tmp_path):
    folder, run, parses = tiny_run(tmp_path / "r")
    mine = folder / "transcripts" / "mine.json"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    write_run(folder, run, {"proposed": parses}, transcripts={})
    assert mine.read_text() == "mine"


def test_transcripts_of_subtitles_that_are_gone_are_removed(tmp_path):
    folder, run, parses = tiny_run(tmp_path / "r")
    said = {video.key: Narration((Word("hello", 1, 2),)) for video in run.videos[:2]}
    write_run(folder, run, {"proposed": parses}, transcripts=said)
    write_run(folder, run, {"proposed": parses})  # learnt from corrections: what is said stays
    write_run(folder, run, {"proposed": parses}, transcripts=dict(list(said.items())[:1]))
    assert [bool(open_run(folder).transcript(video.key)) for video in run.videos] == [True, False, False]


def test_what_was_said_of_a_video_is_not_used_for_another_file_that_comes_after_it_was_gone(tmp_path, caplog):
    """The video is away in one run, in the next another file has its name; then its own file comes back."""
    folder, run, parses = tiny_run(tmp_path / "r")
    run = replace(run, videos=tuple(replace(video, content=f"content {i}") for i, video in enumerate(run.videos)))
    gone, kept = run.videos[0].key, run.videos[1].key
    step = RunLabel(0, run.tasks[gone.task].steps[0], StepLabel(0, moment_s=3.0))

    def said_with(*videos):
        write_run(folder, replace(run, videos=videos), {"proposed": parses})
        opened = open_run(folder)
        note_replaced_videos(folder, opened.labels)
        return opened.labels.labels().keys(), read_relevance(folder, opened.contents, opened.run.tasks).keys()

    said_with(*run.videos)
    opened = open_run(folder)
    for key in (gone, kept):
        opened.labels.append(key, [step], "viewer")
    save_relevance(folder, {gone: "irrelevant", kept: "irrelevant"}, opened.contents)
    assert said_with(*run.videos[1:]) == ({kept}, {kept})
    assert said_with(replace(run.videos[0], content="other"), *run.videos[1:]) == ({kept}, {kept})
    assert f"{gone}: its file was replaced, so its 1 labels are not used" in caplog.text
    assert said_with(*run.videos) == ({gone, kept}, {gone, kept})
