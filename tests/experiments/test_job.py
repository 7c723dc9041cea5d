import pytest

from crosstask.evaluation import evaluate as evaluation
from crosstask.experiments import job
from crosstask.experiments.arms import Arm
from crosstask.experiments.corpora import open_once
from crosstask.experiments.cross_task import arms
from crosstask.experiments.runner import ExperimentConfig, job_values
from crosstask.records import InputError
from tiny import write_tiny

QUICK = {"learning_rate": 0.01, "dropout": 0.1, "initial_epochs": 2, "epochs": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus")
    write_tiny(path, videos_per_task=6)
    return path


@pytest.fixture
def config(folder, tmp_path):
    return ExperimentConfig(str(folder), tmp_path / "out", runs=2, train_videos_per_task=2, learning=QUICK)


def test_all_methods_are_decoded_by_the_same_inference(config, monkeypatch):
    seen = []
    real = evaluation.decode_scores
    monkeypatch.setattr(evaluation, "decode_scores", lambda scores, decoder: seen.append(decoder) or real(scores, decoder))
    counts = {}
    for arm in arms(config):
        seen.clear()
        result = job.train_and_evaluate(job_values(config, arm.with_settings(**QUICK), 0))
        counts[arm.name] = len(seen)
        assert seen == ["once"] * result["videos"] and seen  # decoded once per video, for every method
    assert len(set(counts.values())) == 1 and len(counts) == 7


@pytest.mark.parametrize("train_on", ["all", "primary", "related"])
def test_training_videos_belong_to_the_chosen_tasks(config, train_on):
    corpus = open_once(config.corpus)
    values = job_values(config, Arm("x", "zhukov19", train_on=train_on), 1)
    split = job.split_for_job(corpus, values)
    train = job.training_videos(corpus, split.train, values)
    expected = {"all": {"1", "2", "30"}, "primary": {"1", "2"}, "related": {"30"}}[train_on]
    assert {video.task for video in train} == expected
    assert not {v.key for v in train} & {v.key for v in split.test}
    assert not ({v.key for v in train} | {v.key for v in split.test}) & corpus.validation


def test_tuning_is_evaluated_on_validation_videos_only(config):
    corpus = open_once(config.corpus)
    values = job_values(config, Arm("x", "zhukov19"), 0) | {"judge": "validation"}
    split = job.split_for_job(corpus, values)
    assert {v.key for v in split.test} == corpus.validation
    assert not {v.key for v in split.train} & corpus.validation


def test_subsets_of_tasks_are_nested(config):
    videos = open_once(config.corpus).videos
    kept = []
    for n in (1, 2, 3):
        some = job._subset_of_tasks(videos, {"n_tasks": n, "seed": 4})
        kept.append({v.task for v in some})
        assert len(kept[-1]) == n
    assert kept[0] < kept[1] < kept[2]


def test_a_held_out_task_is_never_used_for_training(config, monkeypatch):
    seen = []
    real = job._fit_and_evaluate

    def spied(corpus, train, test, values):
        seen.append(({v.task for v in train}, {v.task for v in test}))
        return real(corpus, train, test, values)

    monkeypatch.setattr(job, "_fit_and_evaluate", spied)
    arm = Arm("x", "zhukov19", train_on="others").with_settings(**QUICK)
    result = job.train_and_evaluate(job_values(config, arm, 0))
    assert [test for _, test in seen] == [{"1"}, {"2"}] and all(not train & test for train, test in seen)
    assert set(result["recall"]["tasks"]) == {"1", "2"}


def test_too_many_training_videos_leave_no_test_video(config):
    values = job_values(config, Arm("x", "uniform"), 0) | {"train_videos_per_task": 99}
    with pytest.raises(InputError, match="no annotated video is left to evaluate"):
        job.train_and_evaluate(values)
