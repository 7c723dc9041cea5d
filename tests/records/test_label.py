"""Labels of steps by a person."""

import pytest

from crosstask.records import InputError, Interval, StepInterval, StepLabel, labels_from_annotation


def test_a_whole_annotation_labels_every_step() -> None:
    annotation = (StepInterval(2, Interval(9, 11)), StepInterval(0, Interval(5, 6)), StepInterval(0, Interval(1, 2)))
    labels = labels_from_annotation(annotation, 3)
    assert [label.kind for label in labels] == ["intervals", "not shown", "intervals"]
    assert labels[0].intervals == (Interval(1, 2), Interval(5, 6))
    assert [label.shown for label in labels] == [True, False, True]


def test_a_label_says_one_thing() -> None:
    with pytest.raises(InputError, match="step 2: a label is one moment or some intervals; found both"):
        StepLabel(1, moment_s=3.0, intervals=(Interval(1, 2),))
