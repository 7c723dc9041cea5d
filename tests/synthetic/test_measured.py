import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from crosstask.records import Interval, StepInterval
from crosstask.synthetic import (
    DIFFICULTIES,
    MEASURED,
    Shape,
    generate_corpus,
    generate_with_permuted_names,
    generate_without_features,
)
from crosstask.synthetic.measured import draw_measured_pictures, measured_look

TINY = Shape("tiny", 2, 3, 3, 2, 1, 2)
QUIET = replace(MEASURED["measured-default"], fast=0.0, slow=0.0, scene=0.0, video_style=0.0, lying_share=0.0)


def test_the_first_world_has_the_bytes_it_always_had():
    corpus = generate_corpus(Shape("tiny", 2, 2, 1, 0, 0, 1), n_dimensions=5)
    said = hashlib.sha256((repr(corpus.windows) + repr(corpus.annotations)).encode()).hexdigest()
    assert said == "8f4d001d4cdb58904934c6b673154baca15d38c50d69b84c2f7ae5a42263399c"


def test_frozen_settings_are_those_on_record():
    recorded = json.loads((Path(__file__).parents[3] / "results" / "planted-measures.json").read_text("utf-8"))
    assert {name: asdict(difficulty) for name, difficulty in MEASURED.items()} == recorded["difficulties"]


def test_both_worlds_show_the_same_steps_at_the_same_times_and_look_different():
    first, second = generate_corpus(TINY, "default", 3, 9), generate_corpus(TINY, "measured-default", 3, 9)
    assert first.annotations == second.annotations and first.tasks == second.tasks
    assert not np.array_equal(first.features.rows("1001v001"), second.features.rows("1001v001"))
    assert "measured" in second.name and second.feature_spec != first.feature_spec


def test_names_of_difficulties_go_by_world():
    assert {name.removeprefix("measured-") for name in MEASURED} == set(DIFFICULTIES)


def test_the_same_seed_gives_the_same_rows_and_more_videos_change_no_other():
    few, many = (
        generate_corpus(TINY, "measured-noisy", n_dimensions=6),
        generate_corpus(replace(TINY, test_videos_per_task=3), "measured-noisy", n_dimensions=6),
    )
    assert all(np.array_equal(few.features.rows(v.id), many.features.rows(v.id)) for v in few.videos)


def test_permuted_names_keep_the_videos():
    true, control = (make(TINY, "measured-default", n_dimensions=4) for make in (generate_corpus, generate_with_permuted_names))
    assert all(np.array_equal(true.features.rows(v.id), control.features.rows(v.id)) for v in true.videos)
    assert [t.steps for t in true.tasks.values()] != [t.steps for t in control.tasks.values()]


def test_a_look_fades_over_two_seconds_and_is_gone_after():
    look = measured_look("1", ["pour milk"], 0)
    z = draw_measured_pictures(look, [StepInterval(0, Interval(10, 20))], 30, QUIET, np.random.default_rng(0))
    length = np.linalg.norm(z, axis=1)
    assert length[15] > 1 and length[[7, 22]] == pytest.approx(0)
    assert length[[9, 8, 20, 21]] / length[15] == pytest.approx([0.35, 0.15, 0.35, 0.15], abs=1e-4)


def test_an_object_lies_about_near_its_use_more_than_far_from_it():
    look = measured_look("1", ["pour milk"], 0)
    lying = replace(QUIET, lying_share=0.3)
    seen = [
        np.linalg.norm(
            draw_measured_pictures(look, [StepInterval(0, Interval(200, 210))], 400, lying, np.random.default_rng(i)), axis=1
        )
        > 0
        for i in range(60)
    ]
    near, far = np.mean(seen, axis=0)[[*range(192, 198), *range(213, 219)]].mean(), np.mean(seen, axis=0)[:100].mean()
    assert near == pytest.approx(0.75, abs=0.12) and far == pytest.approx(0.15, abs=0.06)


def test_windows_miss_as_many_steps_as_in_the_release_and_are_rather_early():
    corpus, early, outside, shown = generate_without_features("paper", "measured-default", 5), 0, 0, 0
    for key, truth in corpus.annotations.items():
        for window in corpus.windows[key]:
            spans = [part.interval for part in truth if part.step == window.step]
            missed = bool(spans) and not any(window.interval.overlap_s(span) for span in spans)
            shown, outside = shown + bool(spans), outside + missed
            early += missed and window.interval.end_s <= min(span.start_s for span in spans)
    assert outside / shown == pytest.approx(0.61, abs=0.03)
    assert early / outside > 0.4
