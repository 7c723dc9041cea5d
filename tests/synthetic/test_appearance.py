from dataclasses import replace

import numpy as np
import pytest

from crosstask.records import Interval, StepInterval
from crosstask.synthetic import DIFFICULTIES
from crosstask.synthetic.appearance import (
    N_MOTION,
    appearance_of_task,
    draw_features,
    draw_latents,
    draw_projection,
    kind_of_word,
    word_direction,
)

NO_NOISE = replace(
    DIFFICULTIES["default"], fast_noise_norm=0.0, slow_noise_norm=0.0, task_norm=0.0, video_norm=0.0, distractor_rate=0.0
)


@pytest.mark.parametrize(("word", "position", "kind"), [("pour", 0, "verb"), ("milk", 1, "object"), ("into", 2, "preposition")])
def test_the_kind_of_a_word_follows_from_the_word_and_its_position(word, position, kind):
    assert kind_of_word(word, position) == kind


def test_verbs_are_motion_objects_are_objects_and_compound_verbs_are_similar_to_their_verb():
    verb, compound, thing = (
        word_direction("fold", "verb", 0),
        word_direction("fold_in", "verb", 0),
        word_direction("egg", "object", 0),
    )
    assert not verb[N_MOTION:].any() and not thing[:N_MOTION].any()
    assert np.linalg.norm([verb, compound, thing], axis=1) == pytest.approx(1)
    assert verb @ compound == pytest.approx(0.7, abs=0.15) and abs(verb @ word_direction("cut", "verb", 0)) < 0.35


def test_a_step_fades_over_two_seconds():
    task = appearance_of_task("1", ["pour milk"], 0)
    z = draw_latents(task, [StepInterval(0, Interval(10, 20))], 30, NO_NOISE, np.random.default_rng(0))
    length = np.linalg.norm(z, axis=1)
    assert length[15] > 1 and length[[7, 22]] == pytest.approx(0)
    assert length[[9, 8, 20, 21]] / length[15] == pytest.approx([0.35, 0.15, 0.35, 0.15], abs=1e-4)


def test_a_distractor_is_in_view_more_often_near_its_use():
    task = appearance_of_task("1", ["pour milk"], 0)
    timeline, distractors = [StepInterval(0, Interval(200, 210))], replace(NO_NOISE, distractor_rate=0.3)
    seen = np.mean(
        [np.linalg.norm(draw_latents(task, timeline, 400, distractors, np.random.default_rng(i)), axis=1) > 0 for i in range(60)],
        axis=0,
    )
    near, far = seen[[*range(192, 198), *range(213, 219)]].mean(), seen[:100].mean()
    assert near == pytest.approx(0.75, abs=0.12) and far == pytest.approx(0.15, abs=0.06)


def test_noise_has_the_norm_and_the_correlation_in_time_that_the_difficulty_says():
    task = appearance_of_task("1", ["pour milk"], 0)
    fast = draw_latents(task, [], 4000, replace(NO_NOISE, fast_noise_norm=3.5), np.random.default_rng(0))
    slow = draw_latents(task, [], 4000, replace(NO_NOISE, slow_noise_norm=1.0), np.random.default_rng(0))
    for noise, norm, lags in ((fast, 3.5, {1: 0.59, 3: 0.0}), (slow, 1.0, {1: np.exp(-1 / 8), 8: np.exp(-1)})):
        square = (noise**2).sum(axis=1).mean()
        assert np.sqrt(square) == pytest.approx(norm, rel=0.05)
        for lag, correlation in lags.items():
            assert (noise[lag:] * noise[:-lag]).sum(axis=1).mean() / square == pytest.approx(correlation, abs=0.05)


def test_features_are_non_negative_float16_and_columns_have_a_similar_deviation_before_scaling():
    projection = draw_projection(200, DIFFICULTIES["default"], 0)
    assert projection.matrix.shape == (128, 200) and set(np.unique(projection.scale)) == {np.float32(s) for s in (0.3, 0.5, 0.8)}
    latents = draw_latents(appearance_of_task("1", ["pour milk"], 0), [], 300, DIFFICULTIES["default"], np.random.default_rng(0))
    features = draw_features(latents, projection, np.random.default_rng(1))
    assert features.dtype == np.float16 and features.shape == (300, 200) and (features >= 0).all()
    assert np.median((latents @ projection.matrix).std(axis=0)) == pytest.approx(0.8, abs=0.2)
