from itertools import pairwise

import numpy as np
import pytest

from crosstask.inference import decode_once
from crosstask.methods.training_videos import allowed_segments
from crosstask.synthetic import Shape, generate_corpus, generate_without_features


@pytest.fixture(scope="module")
def many():
    return generate_without_features(Shape("windows", 18, 0, 30, 30, 0, 0), "default", 1005)


def test_windows_miss_as_many_steps_and_intervals_as_real_ones(many):
    steps, intervals, early = [], [], []
    for key, truth in many.annotations.items():
        for window in many.windows[key]:
            spans = [part.interval for part in truth if part.step == window.step]
            missed = [window.interval.overlap_s(span) == 0 for span in spans]
            intervals += missed
            steps += [all(missed)] if missed else []
            early += [window.interval.end_s <= min(span.start_s for span in spans)] if missed and all(missed) else []
    assert np.mean(intervals) == pytest.approx(0.62, abs=0.02)
    assert np.mean(steps) == pytest.approx(0.46, abs=0.02)
    assert np.mean(early) == pytest.approx(0.5, abs=0.1)


def test_windows_are_nine_seconds_long(many):
    lengths = [window.interval.length_s for windows in many.windows.values() for window in windows]
    assert np.mean(lengths) == pytest.approx(9, abs=0.3)


def test_windows_cover_every_step_and_always_allow_an_ordered_answer(many):
    for video in many.videos[::7]:
        windows, n_steps = many.windows[video.key], len(many.task_of(video).steps)
        assert [window.step for window in windows] == list(range(n_steps))
        allowed = allowed_segments(windows, many.n_segments(video), n_steps)
        decode_once(np.where(allowed, 0.0, np.inf))


def test_narration_names_each_step_near_its_window():
    corpus = generate_corpus(Shape("tiny", 2, 3, 3, 2, 1, 2), n_dimensions=2)
    near = []
    for video in corpus.videos:
        words = corpus.subtitles[video.id].words
        assert all(a.end_s <= b.start_s + 1e-6 for a, b in pairwise(words))
        assert words[-1].end_s <= corpus.seconds[video.id]
        for window in corpus.windows[video.key]:
            verb = corpus.task_of(video).steps[window.step].split()[0].split("_")[0]
            start, end = window.interval.start_s - 3, window.interval.end_s + 3
            near.append(any(word.text == verb and start <= word.start_s <= end for word in words))
    assert np.mean(near) > 0.75
