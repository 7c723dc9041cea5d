"""One video, one call, no model: subtitles, or even spacing."""

import pytest

import crosstask as ct
from crosstask.datasets.step_lists import read_step_list
from crosstask.model.localize_video import EVEN_SPACING, localize_without_model
from crosstask.records import InputError, task_from_steps

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
    found, source = localize_without_model(folder / f"{film}.{suffix}", task_from_steps(steps))
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
    monkeypatch.setattr("crosstask.model.localize_video._narration_of_video", lambda path: None)
    monkeypatch.setattr("crosstask.model.localize_video._length_of_video", lambda path: 40)
    found, source = localize_without_model(path, task_from_steps("a, b"))
    assert source == EVEN_SPACING
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
