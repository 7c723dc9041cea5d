import pytest

from crosstask.experiments.few_videos.job import FewArm
from crosstask.experiments.few_videos.runner import GRIDS, pooled, settings_of


def test_hits_are_pooled_by_task_and_person():
    first = {"hits": {"1_P1_a": [True, None], "1_P2_b": [False, True]}}
    second = {"hits": {"1_P1_c": [False, True], "2_P1_d": [None, None]}}
    assert pooled([first, second], 1) == {"1": {"P1": (2.0, 3.0), "P2": (1.0, 2.0)}, "2": {"P1": (0.0, 0.0)}}


@pytest.mark.parametrize("method", ["hmm", "zhukov19"])
@pytest.mark.parametrize("supervision", ["order", "labels"])
def test_every_setting_of_a_grid_is_one_of_the_method(method, supervision):
    assert len(settings_of(FewArm(method, "none", supervision, False))) == len(GRIDS[method])
