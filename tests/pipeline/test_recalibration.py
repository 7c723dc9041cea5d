"""Confidence after a review: it follows the checked answers, from a number of them on."""

import numpy as np
import pytest

from crosstask.pipeline.recalibration import FEWEST_ANSWERS, calibration_from, recalibrated
from crosstask.records import FoundStep, Localization, StepLabel, VideoKey
from crosstask.runs.label_changes import Change, RunLabel, change_from_line, change_to_line, live_changes


def checked(number, confidence, right, drawn="gain"):
    label = RunLabel(0, "stir", StepLabel(0, moment_s=1.0), None, right, confidence)
    return Change(number, VideoKey("1", f"v{number}"), (label,), "review", drawn)


def answers(n, share_right, drawn="gain"):
    return [checked(i, 0.5, i < share_right * n, drawn) for i in range(n)]


def confidence_after(changes):
    found = Localization(
        "v", "1", (FoundStep("stir", 3.0, 0.0, 2.0, 5.0, confidence=0.5), FoundStep("pour", 8.0, 0.0, 7.0, 9.0, confidence=1.0))
    )
    return [step.confidence for step in recalibrated(found, calibration_from(changes), labelled=[1]).steps]


def test_confidence_moves_towards_the_share_of_right_answers_and_labels_stay_certain():
    surer, doubtful = confidence_after(answers(30, 0.9)), confidence_after(answers(30, 0.1))
    assert surer[0] == pytest.approx(0.86, abs=0.05) and doubtful[0] == pytest.approx(0.14, abs=0.05)
    assert surer[1] == doubtful[1] == 1.0


def test_few_answers_and_corrections_that_nobody_asked_for_change_nothing():
    assert confidence_after(answers(FEWEST_ANSWERS - 1, 0.1)) == [0.5, 1.0]
    assert confidence_after(answers(30, 0.0, drawn=None)) == [0.5, 1.0]


def test_the_first_answer_about_a_step_counts():
    """A later answer may have been learnt from."""
    changes = answers(30, 0.9)
    again = [checked(i % 30, 0.5, False) for i in range(30, 60)]
    assert np.allclose(confidence_after([*changes, *again]), confidence_after(changes))


def test_answers_that_were_undone_do_not_count():
    changes = answers(30, 0.1)
    undone = [Change(100 + change.id, change.key, undoes=change.id) for change in changes]
    assert confidence_after(live_changes([*changes, *undone])) == [0.5, 1.0]


def test_the_confidence_of_an_answer_is_kept_in_its_line():
    change = checked(3, 0.4, True)
    assert change_from_line(change_to_line(change)) == change
    with pytest.raises(ValueError, match="confidence"):
        change_from_line(change_to_line(change).replace("0.4", "4"))
