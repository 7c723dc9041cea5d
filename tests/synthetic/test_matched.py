import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from crosstask.synthetic import MATCHED, MEASURED, Shape, generate_corpus, generate_with_permuted_names, generate_without_features

TINY = Shape("tiny", 2, 3, 3, 2, 1, 2)


def test_frozen_settings_are_those_on_record():
    recorded = json.loads((Path(__file__).parents[3] / "results" / "planted-matched-measures.json").read_text("utf-8"))
    assert {name: asdict(difficulty) for name, difficulty in MATCHED.items()} == recorded["difficulties"]


def test_looks_are_those_of_the_second_world_but_for_what_lies_about():
    default, measured = asdict(MATCHED["matched-default"]), asdict(MEASURED["measured-default"])
    assert {key for key in default if default[key] != measured[key]} <= {"name", "lying_share", "outside", "early"}
    assert {name.removeprefix("matched-") for name in MATCHED} == {name.removeprefix("measured-") for name in MEASURED}


def test_most_showings_and_fewer_than_half_of_the_steps_lie_outside_their_windows():
    corpus = generate_without_features(Shape("windows", 18, 0, 30, 30, 0, 0), "matched-default", 1005)
    steps, showings = [], []
    for key, truth in corpus.annotations.items():
        for window in corpus.windows[key]:
            missed = [window.interval.overlap_s(part.interval) == 0 for part in truth if part.step == window.step]
            showings += missed
            steps += [all(missed)] if missed else []
    assert np.mean(showings) == pytest.approx(0.62, abs=0.02)
    assert np.mean(steps) == pytest.approx(0.46, abs=0.02)


def test_the_same_seed_gives_the_same_rows_and_more_videos_change_no_other():
    few = generate_corpus(TINY, "matched-noisy", n_dimensions=6)
    many = generate_corpus(replace(TINY, test_videos_per_task=3), "matched-noisy", n_dimensions=6)
    assert all(np.array_equal(few.features.rows(v.id), many.features.rows(v.id)) for v in few.videos)


def test_permuted_names_keep_the_videos_and_their_windows():
    true, control = (make(TINY, "matched-default", n_dimensions=4) for make in (generate_corpus, generate_with_permuted_names))
    assert all(np.array_equal(true.features.rows(v.id), control.features.rows(v.id)) for v in true.videos)
    assert true.windows == control.windows and true.annotations == control.annotations
    assert [t.steps for t in true.tasks.values()] != [t.steps for t in control.tasks.values()]


def test_the_third_world_has_step_lists_of_its_own_and_the_others_keep_theirs():
    second, third = (generate_without_features(TINY, name) for name in ("measured-default", "matched-default"))
    assert second.tasks["1001"].steps[-2] == "blend mixture" and third.tasks["1001"].steps[-2] == "stir mixture"
    assert list(second.tasks) == list(third.tasks)
