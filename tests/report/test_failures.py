import numpy as np

from crosstask.records import FoundStep, Interval, Localization, StepInterval
from crosstask.report.failures import ABSENT, ACTION, BACKGROUND, OBJECT, ORDER, RIGHT, STEP, outcomes


def test_outcomes_by_hand():
    names = ["pour milk", "pour egg", "stir milk", "serve"]
    truth = tuple(StepInterval(k, Interval(10 * k, 10 * k + 5)) for k in range(3))

    def outcome(seconds, scores=None):
        steps = tuple(FoundStep(name, second, 0.0, second, second + 1) for name, second in zip(names, seconds, strict=True))
        return outcomes(Localization("v", "t", steps), truth, scores, 60)

    assert outcome([2, 12, 22, 50]) == [RIGHT, RIGHT, RIGHT, ABSENT]
    assert outcome([12, 2, 2, 50]) == [OBJECT, OBJECT, ACTION, ABSENT]
    assert outcome([22, 22, 12, 50]) == [ACTION, STEP, STEP, ABSENT]
    assert outcome([8, 8, 8, 8])[:3] == [BACKGROUND] * 3
    scores = np.zeros((60, 4))
    scores[3, 0] = 1
    assert outcome([8, 8, 8, 8], scores)[0] == ORDER
