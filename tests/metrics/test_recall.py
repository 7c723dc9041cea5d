import numpy as np

from crosstask.metrics.recall import StepRecall, mean_over_tasks


def test_recall_by_hand():
    truth = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]], bool)  # the third step is not shown
    recall = StepRecall()
    for task, moments in (("a", [0, 2, 2]), ("a", [2, 0, 1]), ("b", [1, 1, 0])):
        recall.add(task, np.array(moments), truth)
    assert recall.by_task() == {"a": 2 / 4, "b": 1 / 2}
    assert mean_over_tasks(recall.by_task()) == 0.5
    assert recall.by_step()["a"] == [0.5, 0.5, None]


def test_a_step_that_was_not_found_is_a_miss():
    recall = StepRecall()
    recall.add("a", np.array([-1, 1]), np.ones((2, 2), bool))
    assert recall.by_task() == {"a": 0.5}
