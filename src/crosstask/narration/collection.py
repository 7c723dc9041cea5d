"""The best recipe we know that uses no label: contrast, calibration, the collection as its own teacher, absence, expected overlap.

For each task, over all its narrated videos:
1. evidence s (L, K): similarities of cues, and of cues with their neighbours, to "STEP to TASK", by the encoder, by TF-IDF and by
   word vectors learnt from these very subtitles; contrasted, standardised, added;
2. mentions: ordered marginals where a step scoring less than `absent` deviations is rather unmentioned;
3. twice: add prototypes learnt from the mentions of all videos; then add where in the video a step is mentioned;
4. worth of a window: overlap expected under the ordered mentions, geometric mean with that under no order at all (an ordered
   choice cannot hit one step in seven, paper Table S2);
5. windows of greatest total worth that some ordered choice passes through.
Every step is described in `docs/narration.md` with what it is worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.narration.evidence import added, contrasted, position_scores, prototype_scores, standardised
from crosstask.narration.mentions import mention_marginals
from crosstask.narration.placing import expected_overlap, ordered_windows, seconds_of_mentions
from crosstask.records import StepInterval

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class BestSettings:
    """Few numbers, all in units that do not depend on the encoder; docs/narration.md says how they were chosen."""

    window_s: int = 9  # paper, Sec. 4.2
    temperature: float = 0.4  # deviations of evidence worth a factor e
    absent: float = 2.0  # deviations above the mean at which a mention is as likely as none
    prototype_weight: float = 0.6  # against the evidence of the step's name
    position_weight: float = 1.0
    rounds: int = 2  # of learning prototypes
    words_weight: float = 0.5  # TF-IDF beside the two views (1 each) of another encoder
    own_vectors_weight: float = 0.5  # each of the two views by the collection's own word vectors, likewise
    order_trust: float = 0.5  # 1: ordered marginals alone; 0: each step for itself
    lag_s: float = 1.5  # the action follows its words


@dataclass(frozen=True)
class SpokenEvidence:
    """One video: its pieces of speech in time, their similarities to the steps in several views, and their vectors."""

    start_s: Matrix  # (L,)
    end_s: Matrix  # (L,)
    n_segments: int
    similarities: tuple[npt.NDArray[np.floating], ...]  # per view (L, K)
    vectors: tuple[npt.NDArray[np.floating], ...] = ()  # per view that can teach prototypes, (L, d)


def best_windows(
    videos: Sequence[SpokenEvidence], weights: Sequence[float], settings: BestSettings
) -> list[tuple[StepInterval, ...]]:
    """Windows of every video of one task; `weights` says how much each view of similarity counts."""
    evidence = collection_evidence(videos, weights, settings)
    return [
        ordered_windows(window_worth(video, s, settings), settings.window_s) for video, s in zip(videos, evidence, strict=True)
    ]


def collection_evidence(videos: Sequence[SpokenEvidence], weights: Sequence[float], settings: BestSettings) -> list[Matrix]:
    """Evidence (L_v, K) of each video, in deviations over the collection."""
    views = [standardised([contrasted(video.similarities[i]) for video in videos]) for i in range(len(weights))]
    of_names = added(views, weights)
    evidence = of_names
    for _ in range(settings.rounds if videos[0].vectors and settings.prototype_weight else 0):
        mentions = [_mentions(s, settings) for s in evidence]
        taught = [standardised(prototype_scores([v.vectors[i] for v in videos], mentions)) for i in range(len(videos[0].vectors))]
        evidence = added([of_names, added(taught, [1.0] * len(taught))], [1.0, settings.prototype_weight])
    for_position = evidence
    for _ in range(settings.rounds + 1 if settings.position_weight else 0):
        mentions = [_mentions(s, settings) for s in for_position]
        where = position_scores([(v.start_s + v.end_s) / 2 / v.n_segments for v in videos], mentions)
        scale = settings.position_weight * settings.temperature
        for_position = [s + scale * w for s, w in zip(evidence, where, strict=True)]
    return for_position


def _mentions(evidence: Matrix, settings: BestSettings) -> Matrix:
    return mention_marginals(evidence / settings.temperature, settings.absent / settings.temperature)


def mentioned(evidence: Matrix, settings: BestSettings) -> Matrix:
    """(K,): how likely each step is mentioned at all."""
    chances: Matrix = _mentions(evidence, settings).sum(axis=0)
    return chances


def window_worth(video: SpokenEvidence, evidence: Matrix, settings: BestSettings) -> Matrix:
    """(T, K): what a window around t is worth to step k."""
    alone = np.exp((evidence - evidence.max(axis=0)) / settings.temperature)
    ordered, free = (
        expected_overlap(
            seconds_of_mentions(mentions, video.start_s, video.end_s, video.n_segments, settings.lag_s), settings.window_s
        )
        for mentions in (_mentions(evidence, settings), alone / alone.sum(axis=0))
    )
    worth: Matrix = ordered**settings.order_trust * free ** (1 - settings.order_trust)
    return worth
