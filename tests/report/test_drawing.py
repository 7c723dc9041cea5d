from crosstask.records import FoundStep, Localization
from crosstask.report.drawing import timeline


def test_a_step_predicted_absent_is_dashed_and_marked():
    shown, absent = (FoundStep("stir", 3, 0.0, 1.0, 6.0, flag) for flag in (True, False))
    drawn = [timeline(Localization("v", "t", (step,)), 10, None, None, None) for step in (shown, absent)]
    assert "stroke-dasharray" in drawn[1] and "(?) stir" in drawn[1] and "predicted absent" in drawn[1]
    assert "stroke-dasharray" not in drawn[0] and "(?)" not in drawn[0]
