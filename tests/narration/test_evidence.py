import numpy as np

from crosstask.narration.evidence import centre_over_steps, position_scores, prototype_scores, standardise


def test_evidence_is_invariant_to_scale_and_shift_of_a_step_and_of_a_cue() -> None:
    rng = np.random.default_rng(0)
    scores = [rng.random((n, 3)) for n in (4, 6)]
    rescaled = [score * [1, 2, 5] + [0, 7, -1] for score in scores]
    for a, b in zip(standardise(scores), standardise(rescaled), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    np.testing.assert_allclose(centre_over_steps(scores[0] + rng.random((4, 1))), centre_over_steps(scores[0]), atol=1e-12)
    assert centre_over_steps(np.array([[0.5], [0.7]])).tolist() == [[0.5], [0.7]]


def test_prototypes_point_to_what_is_said_of_a_step() -> None:
    rng = np.random.default_rng(0)
    directions = np.eye(5)[:2]
    vectors, mentions = [], []
    for _ in range(4):
        video = 0.1 * rng.standard_normal((12, 5))
        mention = np.zeros((12, 2))
        for k in range(2):
            at = rng.integers(0, 12)
            video[at] += directions[k]
            mention[at, k] = 1
        vectors.append(video)
        mentions.append(mention)
    scores = prototype_scores(vectors, mentions)
    assert all((s.argmax(axis=0) == m.argmax(axis=0)).all() for s, m in zip(scores, mentions, strict=True))


def test_positions_favour_where_the_collection_mentions_a_step() -> None:
    positions = [np.linspace(0, 0.99, 20) for _ in range(3)]
    mentions = [np.zeros((20, 1)) for _ in range(3)]
    for mention in mentions:
        mention[15] = 1
    scores = position_scores(positions, mentions)
    assert all(abs(int(score.argmax()) - 15) <= 1 for score in scores)
    assert scores[0][15, 0] > 0 > scores[0][2, 0]
