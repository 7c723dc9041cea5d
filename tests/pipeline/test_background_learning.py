import time

import pytest

from crosstask.model.file import load_model
from crosstask.pipeline.background_learning import BackgroundLearner
from crosstask.pipeline.viewer_backend import features_for_run
from crosstask.records import InputError
from pipeline.test_relearning import done  # noqa: F401 - fixture
from pipeline.test_run_labels import folder  # noqa: F401 - fixture


def test_the_background_learner_runs_once_and_ends_in_a_state(done):  # noqa: F811
    learner = BackgroundLearner(done, lambda: load_model(done.folder / "model.safetensors"), features_for_run(done, None))
    assert learner.state()["state"] == "idle"
    with pytest.raises(InputError, match="learn first"):
        learner.accept()
    assert learner.start()["state"] == learner.start()["state"] == "running"
    while learner.state()["state"] == "running":
        time.sleep(0.05)
    state = learner.state()
    assert state["state"] == "ready" and state["n_labels"] == 1 and state["n_steps"] == len(state["moved"])
    assert learner.undo()["state"] == "idle" and not learner.state()["can_undo"]
    learner.start()
    while learner.state()["state"] == "running":
        time.sleep(0.05)
    assert learner.accept()["can_undo"] and not learner.undo()["can_undo"]
    failing = BackgroundLearner(done, lambda: None, features_for_run(done, None))
    failing.start()
    while failing.state()["state"] == "running":
        time.sleep(0.05)
    assert failing.state()["state"] == "failed" and "no model" in failing.state()["message"]
