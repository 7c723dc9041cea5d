import json

import pytest

from crosstask.experiments.few_videos.never_trained import never_trained, stratum_hits
from crosstask.experiments.runner import ExperimentConfig
from experiments.few_videos.people import write_people


def test_strata_add_up_and_no_video_of_a_tested_task_is_trained_on(tmp_path):
    write_people(tmp_path / "corpus")
    config = ExperimentConfig(str(tmp_path / "corpus"), tmp_path / "out", folds=2, supervision=("order",), methods=("hmm",))
    summary = never_trained(config).summary
    for of in summary["results"].values():
        assert of["videos"] == 32 and sum(s["steps"] for s in of["strata"].values()) == 96
        assert of["trained_on"] <= 2 * 2 * 3, "two people and at most three other tasks"
    tuned = [json.loads(path.read_text())["values"] for path in (tmp_path / "out" / "jobs").glob("choose-*.json")]
    assert tuned and all(values["count"] == 0 for values in tuned), "settings are chosen on tasks that are not trained on"
    assert set(summary["differences"]) == {"hmm, component, order, beside - uniform", "hmm, step, order, beside - uniform"}
    assert (tmp_path / "out" / "figure.png").exists()


def test_hits_of_a_stratum_leave_out_the_other_steps():
    result = {"hits": {"1_P1_a": [True, False, None]}, "strata": {"1": ["name trained", "words trained", "words trained"]}}
    assert stratum_hits([result], 1, "name trained") == {"1": {"P1": (1.0, 1.0)}}
    assert stratum_hits([result], 1, "words trained") == {"1": {"P1": (0.0, 1.0)}}
    assert stratum_hits([result], 1, "unknown word") == pytest.approx({})
