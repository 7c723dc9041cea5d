import json
from dataclasses import replace

import pytest

from crosstask.experiments.few_videos.experiment import few_videos
from crosstask.experiments.runner import ExperimentConfig
from crosstask.records import InputError
from experiments.few_videos.people import write_people


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    write_people(folder / "corpus")
    return ExperimentConfig(
        str(folder / "corpus"),
        folder / "out",
        counts=(1, 2),
        folds=2,
        supervision=("order",),
        methods=("hmm",),
        names="published",
    )


@pytest.fixture(scope="module")
def summary(config):
    return few_videos(config).summary


def test_every_video_is_tested_once_at_every_number(summary, config):
    assert summary["counts"] == ["1", "2", "all"] and len(summary["tasks"]) == 4
    for name, by_number in summary["results"].items():
        if not name.startswith("uniform"):
            assert [of["videos"] for of in by_number.values()] == [32, 32, 32]
            assert [of["of_tasks"] for of in by_number.values()] == [4, 4, 4]
    assert json.loads((config.out / "results.json").read_text())["results"] == summary["results"]


def test_sharing_is_compared_with_the_best_unshared_arm(summary):
    found = summary["differences"]["hmm, order: shared - best unshared"]["1"]
    means = {
        name: by_number["1"]["recall"]["mean"]
        for name, by_number in summary["results"].items()
        if ", none, " in name and "1" in by_number
    }
    assert found["against"] == max(means, key=means.get)
    shared = summary["results"]["hmm, component, order, beside"]["1"]["recall"]["mean"]
    assert found["mean"] == pytest.approx(shared - means[found["against"]]) and found["of_tasks"] == 4


def test_settings_are_chosen_for_every_arm_and_fold(summary):
    assert all(len(of_arm) == 2 for of_arm in summary["tuning"].values()) and len(summary["tuning"]) == 6
    for of_arm in summary["tuning"].values():
        for of_fold in of_arm:
            assert len(of_fold["recall"]) == 3


def test_repeating_gives_the_same_bytes(summary, config):
    before = {p.name: p.read_bytes() for p in config.out.iterdir() if p.is_file()}
    few_videos(config)
    assert {p.name: p.read_bytes() for p in config.out.iterdir() if p.is_file()} == before
    assert {"results.json", "results.csv", "table.tex", "figure.png"} <= set(before)


def test_other_methods_are_refused(config, tmp_path):
    with pytest.raises(InputError, match="expected one or both"):
        few_videos(replace(config, methods=("uniform",), out=tmp_path))
