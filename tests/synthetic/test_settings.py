import json
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
import pytest

from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.evaluation.splits import paper_split
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.order_only import Uniform
from crosstask.methods.supervised import Supervised
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.synthetic import DIFFICULTIES, SHAPES, generate_corpus, generate_with_permuted_names

RESULTS = Path(__file__).parents[2] / "results"
SEEDS = (0, 1, 2)
SETTINGS = AlternationSettings(learning_rate=3e-3, dropout=0.3, initial_epochs=30, epochs=30)


def test_a_difficulty_differs_from_the_default_only_in_what_it_is_named_for():
    changed = {
        name: {f.name for f in fields(d) if getattr(d, f.name) != getattr(DIFFICULTIES["default"], f.name)} - {"name"}
        for name, d in DIFFICULTIES.items()
        if name != "easy"
    }
    assert changed == {
        "clear": {"fast_noise_norm"},
        "default": set(),
        "noisy": {"fast_noise_norm"},
        "cluttered": {"distractor_rate"},
        "idiosyncratic": {"shared_norm", "task_specific_norm"},
    }
    assert all(name == d.name for name, d in DIFFICULTIES.items()) and all(name == s.name for name, s in SHAPES.items())


def test_settings_are_those_of_the_stored_results():
    calibration, statistics = (
        json.loads((RESULTS / f"synthetic-{name}.json").read_text("utf-8")) for name in ("calibration", "statistics")
    )
    assert {name: asdict(difficulty) for name, difficulty in DIFFICULTIES.items()} == calibration["difficulties"]
    assert {name: asdict(shape) for name, shape in SHAPES.items()} == statistics["shapes"]


def mean_recall(method, generate=generate_corpus, only_primary=False):
    """Mean recall over tasks and seeds on the small and easy corpus."""
    recalls = []
    for seed in SEEDS:
        corpus = generate("small", "easy", seed, 64)
        split = paper_split(corpus, np.random.default_rng(seed), SHAPES["small"].train_videos_per_task)
        train = [video for video in split.train if corpus.task_of(video).primary or not only_primary]
        seen = corpus.only_tasks({video.task for video in train}).only(train)
        scorer = method.fit(seen, np.random.default_rng(seed))
        recalls.append(evaluate_videos(corpus, scorer, split.test).to_json()["recall"]["mean"])
    return float(np.mean(recalls))


@pytest.fixture(scope="module")
def uniform():
    return mean_recall(Uniform(), only_primary=True)


@pytest.fixture(scope="module")
def component():
    return mean_recall(Zhukov19("component", SETTINGS))


def test_the_default_method_recovers_the_truth_of_the_easy_corpus(uniform):
    assert mean_recall(HiddenMarkovModel()) > uniform + 0.25


def test_the_paper_method_recovers_the_truth_and_sharing_helps(uniform, component):
    none = mean_recall(Zhukov19("none", SETTINGS), only_primary=True)
    assert none > uniform + 0.25 and component > none + 0.04


def test_full_supervision_is_best(component):
    assert mean_recall(Supervised("component", SETTINGS), only_primary=True) > component + 0.08


def test_sharing_does_not_help_where_names_are_permuted():
    with_sharing = mean_recall(Zhukov19("component", SETTINGS), generate_with_permuted_names)
    without = mean_recall(Zhukov19("none", SETTINGS), generate_with_permuted_names, only_primary=True)
    assert with_sharing < without
