"""Narration windows estimated jointly over all narrated videos of a task, without annotation (`narrate --recipe best`).

For each task:
1. evidence s (L, K): similarities of cues, and of cues with their neighbours, to "STEP to TASK", by the encoder, by TF-IDF and by
   word vectors trained on the same subtitles; centred over the steps, standardised per step, summed with weights;
2. mentions: the posterior of "unit l mentions step k" for steps in order, where a step that scores below `absence_threshold` is more
   likely not mentioned;
3. `rounds` times: add the similarity to prototypes estimated from the mentions in all videos; then add a prior of the position in the
   video at which a step is mentioned;
4. score of a window: its expected overlap with the mentions, as a geometric mean of the posterior with and without the order
   constraint (an ordered choice cannot hit one step in seven, paper Table S2);
5. the windows of highest total score that admit an ordered choice of one moment each.
`docs/narration.md` says what each part contributes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.narration.evidence import centre_over_steps, position_scores, prototype_scores, standardise, weighted_sum
from crosstask.narration.mentions import mention_posterior
from crosstask.narration.windows import expected_overlap, mention_mass, ordered_windows
from crosstask.records import StepInterval

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CollectionSettings:
    """Settings in units that do not depend on the encoder; docs/narration.md says how they were chosen."""

    window_s: int = 9  # paper, Sec. 4.2
    temperature: float = 0.4  # standard deviations of evidence that change the odds by a factor e
    absence_threshold: float = (
        2.0  # standard deviations above the mean at which "mentioned" and "not mentioned" are equally likely
    )
    prototype_weight: float = 0.6  # relative to the similarity to the step's name
    position_weight: float = 1.0
    rounds: int = 2  # of estimating prototypes
    tfidf_weight: float = 0.5  # where another encoder gives two views of weight 1 each
    word_vectors_weight: float = 0.5  # of each of the two views by word vectors trained on the collection, likewise
    order_weight: float = 0.5  # 1: only the ordered posterior; 0: each step independently
    lag_s: float = 1.5  # the action follows the words


@dataclass(frozen=True)
class SpokenEvidence:
    """One video: the times of its L units of speech, their similarities to the K steps in several views, and their vectors."""

    start_s: Matrix  # (L,)
    end_s: Matrix  # (L,)
    n_segments: int
    similarities: tuple[npt.NDArray[np.floating], ...]  # per view (L, K)
    vectors: tuple[npt.NDArray[np.floating], ...] = ()  # per view from which prototypes can be estimated, (L, d)


def collection_windows(
    videos: Sequence[SpokenEvidence], weights: Sequence[float], settings: CollectionSettings
) -> list[tuple[StepInterval, ...]]:
    """One window per step for every video of one task; `weights` holds the weight of each view of similarity."""
    evidence = collection_evidence(videos, weights, settings)
    return [
        ordered_windows(window_scores(video, s, settings), settings.window_s) for video, s in zip(videos, evidence, strict=True)
    ]


def collection_evidence(videos: Sequence[SpokenEvidence], weights: Sequence[float], settings: CollectionSettings) -> list[Matrix]:
    """Evidence (L_v, K) of each video, in standard deviations over the collection."""
    views = [standardise([centre_over_steps(video.similarities[i]) for video in videos]) for i in range(len(weights))]
    from_names = weighted_sum(views, weights)
    evidence = from_names
    for _ in range(settings.rounds if videos[0].vectors and settings.prototype_weight else 0):
        mentions = [_mention_posterior(s, settings) for s in evidence]
        prototype_views = [
            standardise(prototype_scores([v.vectors[i] for v in videos], mentions)) for i in range(len(videos[0].vectors))
        ]
        from_prototypes = weighted_sum(prototype_views, [1.0] * len(prototype_views))
        evidence = weighted_sum([from_names, from_prototypes], [1.0, settings.prototype_weight])
    with_position = evidence
    for _ in range(settings.rounds + 1 if settings.position_weight else 0):
        mentions = [_mention_posterior(s, settings) for s in with_position]
        log_priors = position_scores([(v.start_s + v.end_s) / 2 / v.n_segments for v in videos], mentions)
        scale = settings.position_weight * settings.temperature
        with_position = [s + scale * prior for s, prior in zip(evidence, log_priors, strict=True)]
    return with_position


def _mention_posterior(evidence: Matrix, settings: CollectionSettings) -> Matrix:
    return mention_posterior(evidence / settings.temperature, settings.absence_threshold / settings.temperature)


def mention_probabilities(evidence: Matrix, settings: CollectionSettings) -> Matrix:
    """(K,): the probability that each step is mentioned anywhere in the video."""
    probabilities: Matrix = _mention_posterior(evidence, settings).sum(axis=0)
    return probabilities


def window_scores(video: SpokenEvidence, evidence: Matrix, settings: CollectionSettings) -> Matrix:
    """(T, K): the score of a window of step k around segment t."""
    weights = np.exp((evidence - evidence.max(axis=0)) / settings.temperature)
    ordered, independent = (
        expected_overlap(mention_mass(mentions, video.start_s, video.end_s, video.n_segments, settings.lag_s), settings.window_s)
        for mentions in (_mention_posterior(evidence, settings), weights / weights.sum(axis=0))
    )
    scores: Matrix = ordered**settings.order_weight * independent ** (1 - settings.order_weight)
    return scores
