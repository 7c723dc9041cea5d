import numpy as np
import pytest

from crosstask.metrics.truth import TOLERATED_OVERSHOOT_S, true_segments
from crosstask.records import Corpus, InputError, Interval, StepInterval, Task, Video

VIDEO = Video("1", "a")


def corpus_with(*intervals):
    steps = tuple(StepInterval(step, Interval(start, end)) for step, start, end in intervals)
    return Corpus("c", {"1": Task("1", "t", ("x", "y"))}, (VIDEO,), seconds={"a": 5}, annotations={VIDEO.key: steps})


def test_starts_are_rounded_down_and_ends_up():
    truth = true_segments(corpus_with((0, 1.5, 2.5), (1, 4.0, 5.3)), VIDEO)
    assert np.argwhere(truth).tolist() == [[1, 0], [2, 0], [4, 1]]


def test_an_annotation_far_beyond_the_end_of_its_video_is_an_error():
    with pytest.raises(InputError, match=r"step 2 ends at 6.5 s, but the video has 5 seconds"):
        true_segments(corpus_with((1, 4.0, 6.5)), VIDEO)


def test_six_annotations_of_the_release_end_at_most_half_a_second_after_their_video(real_release):
    known = [video for video in real_release.videos if video.key in real_release.annotations and real_release.knows_length(video)]
    ends = {v: max((a.interval.end_s for a in real_release.annotations[v.key]), default=0.0) for v in known}
    over = [end - real_release.n_segments(video) for video, end in ends.items() if end > real_release.n_segments(video)]
    assert len(over) == 6 and max(over) == pytest.approx(0.43, abs=0.005)
    assert max(over) < TOLERATED_OVERSHOOT_S
