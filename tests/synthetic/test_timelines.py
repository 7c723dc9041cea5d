from itertools import pairwise

import numpy as np
import pytest

from crosstask.metrics.statistics import overall_statistics, task_statistics
from crosstask.synthetic import generate_without_features


@pytest.fixture(scope="module")
def paper_shape():
    return generate_without_features("paper", "default", seed=11)


def test_statistics_at_the_paper_shape_are_those_of_the_release(paper_shape):
    figures = overall_statistics([task_statistics(paper_shape, task) for task in paper_shape.primary_tasks()])
    assert figures["missing"] == pytest.approx(0.31, abs=0.05)
    assert figures["background"] == pytest.approx(0.72, abs=0.03)
    assert figures["order_consistency"] == pytest.approx(0.86, abs=0.03)
    seconds = [paper_shape.n_segments(video) for video in paper_shape.videos]
    assert np.mean(np.log(seconds)) == pytest.approx(5.53, abs=0.1)
    assert np.std(np.log(seconds)) == pytest.approx(0.56, abs=0.06)


def test_annotations_lie_inside_the_video_without_overlap_and_only_primary_tasks_have_them(paper_shape):
    assert {key.task for key in paper_shape.annotations} == {task.id for task in paper_shape.primary_tasks()}
    for key, truth in paper_shape.annotations.items():
        n_seconds = paper_shape.seconds[key.video]
        assert truth and all(0 <= p.interval.start_s < p.interval.end_s <= n_seconds for p in truth)
        assert all(a.interval.end_s <= b.interval.start_s + 0.011 for a, b in pairwise(truth))  # rounded to hundredths
