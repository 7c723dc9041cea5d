import pytest

from crosstask.experiments.few_videos.job import FewArm
from crosstask.experiments.few_videos.runner import pooled, settings_of
from crosstask.methods.table import method_named


def test_hits_are_pooled_by_task_and_person():
    first = {"hits": {"1_P1_a": [True, None], "1_P2_b": [False, True]}}
    second = {"hits": {"1_P1_c": [False, True], "2_P1_d": [None, None]}}
    assert pooled([first, second], 1) == {"1": {"P1": (2.0, 3.0), "P2": (1.0, 2.0)}, "2": {"P1": (0.0, 0.0)}}


@pytest.mark.parametrize(("method", "expected"), [("hmm", 3), ("zhukov19", 8)])
@pytest.mark.parametrize("supervision", ["order", "labels"])
def test_every_setting_of_a_grid_is_one_of_the_method_and_no_two_are_alike(method, expected, supervision):
    arm = FewArm(method, "none", supervision, False)
    built = [method_named(arm.trained_method, **settings) for settings in settings_of(arm)]
    assert len({repr(one) for one in built}) == expected


def test_the_default_is_among_the_settings_of_hmm():
    assert method_named("hmm") in [
        method_named("hmm", **settings) for settings in settings_of(FewArm("hmm", "none", "order", True))
    ]
