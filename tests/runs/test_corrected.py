import pytest

from crosstask.records import FoundStep, Interval, Localization, StepLabel
from crosstask.runs.corrected import answer_is_right, interval_around, with_labels
from crosstask.runs.label_changes import RunLabel

FOUND = Localization(
    "v", "1", [FoundStep("pour", 4.0, -1.0, 3.0, 7.0, True, 0.4, 0.8), FoundStep("stir", 12.0, -2.0, 10.0, 14.0)]
)


def label(step, interval=None, **said):
    return {step: RunLabel(step, "pour", StepLabel(step, **said), interval)}


def test_a_moment_keeps_the_interval_that_contains_it_and_otherwise_moves_it():
    (pour, stir) = with_labels(FOUND, label(0, moment_s=5.0), 20).steps
    assert (pour.moment_s, pour.start_s, pour.end_s, pour.confidence, pour.by) == (5.0, 3.0, 7.0, 1.0, "person")
    assert stir == FOUND.steps[1]
    (moved, _) = with_labels(FOUND, label(0, moment_s=15.0), 20).steps
    assert (moved.start_s, moved.end_s) == (13.0, 17.0)
    (fixed, _) = with_labels(FOUND, label(0, Interval(14.0, 16.0), moment_s=15.0), 20).steps
    assert (fixed.start_s, fixed.end_s) == (14.0, 16.0), "the interval that the person saw, whatever the machine finds later"


def test_intervals_are_taken_as_they_are():
    (pour, _) = with_labels(FOUND, label(0, intervals=(Interval(1, 2), Interval(4, 6.5))), 20).steps
    assert (pour.moment_s, pour.start_s, pour.end_s) == (4.0, 4, 6.5) and len(pour.intervals) == 2
    (far, _) = with_labels(FOUND, label(0, intervals=(Interval(15, 19),)), 20).steps
    assert (far.moment_s, far.start_s, far.end_s) == (17.0, 15, 19)


def test_not_shown_is_certain():
    (pour, _) = with_labels(FOUND, label(0), 20).steps
    assert (pour.shown, pour.p_shown, pour.by) == (False, 0.0, "person")


@pytest.mark.parametrize("moment_s", [0.0, 0.4, 19.9, 10.0])
def test_an_interval_around_a_moment_contains_it_and_starts_in_the_video(moment_s):
    interval = interval_around(FOUND.steps[0], moment_s, 20)
    assert 0 <= interval.start_s <= moment_s < interval.end_s
    assert interval.end_s <= 20 or moment_s >= 20, "inside the video, wherever the moment is"


def test_when_an_answer_counts_as_right():
    shown, absent = FOUND.steps[0], FoundStep("pour", 4.0, -1.0, 3.0, 7.0, shown=False)
    assert answer_is_right(shown, StepLabel(0, moment_s=4.7)) and not answer_is_right(shown, StepLabel(0, moment_s=5.0))
    assert answer_is_right(shown, StepLabel(0, intervals=(Interval(1, 2), Interval(4.5, 9))))
    assert not answer_is_right(shown, StepLabel(0, intervals=(Interval(5, 9),)))
    assert not answer_is_right(shown, StepLabel(0)) and answer_is_right(absent, StepLabel(0))
    assert not answer_is_right(absent, StepLabel(0, moment_s=4.0))
