import json

import pytest

from cli.running import crosstask, json_of, refused
from tiny import write_tiny

QUICK = ["--learning-rate", "0.01", "--initial-epochs", "1", "--epochs", "1", "--train-videos", "2"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    write_tiny(folder, videos_per_task=5)
    return folder


def test_an_unknown_name_is_refused_with_the_names(corpus, tmp_path):
    said = refused("experiment", "table-9", corpus, "--out", tmp_path)
    assert "'table-9' is unknown" in said and "cross-task" in said and "optimiser" in said


def test_the_run_of_another_verb_is_not_overwritten(corpus, tmp_path):
    from correction.runs import write_random_run

    write_random_run(tmp_path)
    before = (tmp_path / "run.json").read_bytes()
    said = refused("experiment", "cross-task", corpus, "--out", tmp_path, "--methods", "uniform", "--runs", "1", *QUICK)
    assert "it holds the run of `crosstask run`, which would be overwritten" in said
    assert (tmp_path / "run.json").read_bytes() == before


def test_the_results_of_another_experiment_or_corpus_are_not_overwritten(corpus, tmp_path):
    quick = ["--out", tmp_path / "out", "--runs", 1, *QUICK]
    json_of("experiment", "cross-task", corpus, "--methods", "uniform", *quick)
    before = (tmp_path / "out" / "results.json").read_bytes()
    said = refused("experiment", "no-narration", corpus, *quick)
    assert f"it holds the results of experiment 'cross-task' on '{corpus.name}'" in said
    write_tiny(tmp_path / "another", videos_per_task=5)
    assert "name another folder" in refused("experiment", "cross-task", tmp_path / "another", "--methods", "uniform", *quick)
    assert (tmp_path / "out" / "results.json").read_bytes() == before
    json_of("experiment", "cross-task", corpus, "--methods", "uniform,random", *quick)


def test_the_results_on_other_videos_in_a_folder_of_the_same_name_are_not_overwritten(corpus, tmp_path):
    quick = ["--methods", "uniform", "--out", tmp_path / "out", "--runs", 1, *QUICK]
    json_of("experiment", "cross-task", corpus, *quick)
    other = tmp_path / "other" / corpus.name
    write_tiny(other, videos_per_task=5)
    for path in sorted(other.rglob("*-v*"), reverse=True):
        path.rename(path.with_name(path.name.replace("-v", "-w")))
    for name in ("videos.csv", "videos_val.csv", "video_seconds.csv"):
        path = other / "crosstask_release" / name
        path.write_text(path.read_text().replace("-v", "-w"))
    assert "it holds the steps found in other videos" in refused("experiment", "cross-task", other, *quick)


@pytest.mark.parametrize("name", ["results.json", "table.tex", "figure.png", "report.html"])
def test_files_that_are_not_those_of_an_experiment_are_not_overwritten(corpus, tmp_path, name):
    (tmp_path / name).write_text('{"my": "results"}')
    (tmp_path / "jobs").mkdir()
    said = refused("experiment", "cross-task", corpus, "--methods", "uniform", "--runs", 1, "--out", tmp_path, *QUICK)
    assert f"{name} does not belong to a run and would be overwritten" in said and len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("option", "value"),
    [("--split-by", "luck"), ("--engine", "abacus"), ("--shared-videos", "maybe"), ("--recipe", "new"), ("--dropout", "1.5")],
)
def test_bad_choices_are_refused(corpus, tmp_path, option, value):
    assert value in refused("experiment", "sharing", corpus, "--out", tmp_path, option, value)


def test_a_question_prints_its_table_and_the_same_json_twice(corpus, tmp_path):
    first = json_of("experiment", "no-narration", corpus, "--runs", 2, "--out", tmp_path, *QUICK)
    again = json_of("experiment", "no-narration", corpus, "--runs", 2, "--out", tmp_path, *QUICK)
    assert first == again == json.loads((tmp_path / "results.json").read_text())
    assert "zhukov19, windows - zhukov19, no windows" in (tmp_path / "report.html").read_text("utf-8")
    shown = crosstask("experiment", "no-narration", corpus, "--runs", 2, "--out", tmp_path, *QUICK)
    assert shown.returncode == 0 and "zhukov19, windows - zhukov19, no windows" in shown.stdout


@pytest.mark.parametrize("method", ["alayrac16", "richard18"])
def test_a_baseline_is_trained_and_evaluated(corpus, tmp_path, method):
    model = tmp_path / "m.safetensors"
    json_of("train", corpus, "--method", method, "--out", model)
    assert 0 <= json_of("evaluate", corpus, "--model", model)["recall"]["mean"] <= 1


def test_a_second_experiment_in_one_folder_is_refused_at_once(corpus, tmp_path):
    from crosstask.storage import nonblocking_lock

    with nonblocking_lock(tmp_path / "out"):
        said = refused("experiment", "no-narration", corpus, "--runs", 1, "--out", tmp_path / "out", *QUICK)
    assert "is writing it; wait until that has ended" in said and not (tmp_path / "out").exists()
