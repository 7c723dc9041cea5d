"""Joint decoding: features and narration of a video as evidence in one posterior.

Narration gives one moment per step: the centre of its window, or of where the subtitles mention it. How often these are right, the accuracy a, and
how informative the features are, lambda, are estimated without labels over all videos of a call (`inference/narration_evidence.py`). The
posterior is a mixture,

    P(segment t in step k) = w [(1 - a) P(... | features) + a P(... | features, narration, order)] + (1 - w) P(... | features, narration)
    w = (1 - a) lambda / ((1 - a) lambda + a),

so that unrelated narration changes nothing, windows that are nearly always right may contradict the order of the list, and where features say nothing the
narration leads. A step without a window is decoded without the last part.
Where the features contain speech, narration is not evidence again: the same words would count twice.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt

from crosstask.inference.hmm_posterior import HmmPosterior
from crosstask.inference.interval_posterior import IntervalPosterior
from crosstask.inference.intervals import TEMPERING, intervals_around
from crosstask.inference.narration_evidence import (
    FeatureEvidence,
    Reliability,
    VideoAgreement,
    Windows,
    estimate_reliability,
    feature_hits,
    independent_hits,
    independent_posterior,
    joint_posterior,
    order_posterior,
    usual_density,
    video_agreement,
    windows_of,
)
from crosstask.narration.mention_evidence import mention_centres
from crosstask.narration.narrate import NarratedVideo, why_unusable
from crosstask.records import Corpus, InputError, Narration, StepLabel, Task, Video, VideoKey
from crosstask.text.encoders import Encoder
from crosstask.text.encoders.choice import installed_sentence_encoder

log = logging.getLogger(__name__)
Array = npt.NDArray[np.float64]
_LARGEST_WINDOW = 0.5  # share of the video; a longer window says nothing about when
_SMALLEST_SCORE = 1e-12  # probability
_FITTED_VIDEOS = 400  # narrated videos, evenly chosen, from which the reliability of both sources is estimated
_UNRELATED_VIDEOS = 4  # videos of the task, at most, whose windows tell how far features and unrelated windows agree
_SPEECH = "speech"  # the name of speech features in a feature spec


class EvidenceScorer(Protocol):
    """A scorer whose features can be combined with narration."""

    @property
    def windows_used(self) -> bool:
        """True if narration windows were informative in training."""
        ...

    def feature_evidence(self, task: Task, features: npt.NDArray[np.floating]) -> FeatureEvidence:
        """What features (T, D) say before narration is considered."""
        ...

    def label_log_ratios(self, labels: Sequence[StepLabel], n_segments: int, task: Task) -> Array:
        """(T, K + 1) certain evidence of a person's labels, background last."""
        ...

    def posterior(self, task: Task, features: npt.NDArray[np.floating], labels: Sequence[StepLabel] = ()) -> HmmPosterior:
        """The posterior given features (T, D) and labels, without narration."""
        ...


class JointScores(NamedTuple):
    """Scores (T, K) for the decoder, the posterior given features and narration, and the expected accuracy of the windows.

    `hits` (T, K) is the probability that a moment at the segment lies in the step: the posterior, corrected for how often its sources are right.
    """

    scores: Array
    posterior: IntervalPosterior
    accuracy: float
    hits: Array

    def intervals(self, moments: npt.NDArray[np.int64]) -> tuple[Array, Array]:
        """Starts (K,) and ends (K,) in segments of intervals around the moments (K,).

        The evidence of the joint posterior is tempered already, that of features alone is not.
        """
        return intervals_around(self.scores, moments, (1 - self.accuracy) * TEMPERING + self.accuracy)


def has_feature_evidence(scorer: object) -> bool:
    """True if features of this scorer, or model, can be combined with narration."""
    return hasattr(getattr(scorer, "scorer", scorer), "feature_evidence")


def evidence_scorer(scorer: object) -> EvidenceScorer:
    """The scorer, or that of a model, where it can be combined with narration; otherwise an error."""
    inner: Any = getattr(scorer, "scorer", scorer)
    if not has_feature_evidence(scorer):
        method = getattr(scorer, "method", type(inner).__name__)
        raise InputError(
            f"method '{method}' has no posterior; narration can be combined with `--method hmm` only: train such a model, or decode without narration"
        )
    return cast(EvidenceScorer, inner)


def contains_speech(feature_spec: str) -> bool:
    """True if features of this spec contain speech.

    >>> contains_speech("efficientnet-lite0,speech"), contains_speech("unknown")
    (True, False)
    """
    return _SPEECH in feature_spec.split(",")


def window_centres(corpus: Corpus, video: Video) -> Array:
    """(K,) centres of a video's windows in seconds; NaN where a step has none inside the video, or one over most of it."""
    n_segments = corpus.n_segments(video)
    centres = np.full(len(corpus.task_of(video).steps), np.nan)
    for window in corpus.windows_of(video):
        if 0 < len(window.interval.segments(n_segments)) <= _LARGEST_WINDOW * n_segments:
            centres[window.step] = (window.interval.start_s + window.interval.end_s) / 2
    return np.clip(centres, 0.5, n_segments - 0.5)


def subtitle_centres(task: Task, narration: Narration, n_segments: int, encoder: Encoder | None) -> Array:
    """(K,) centres in seconds of where subtitles mention the steps; NaN where a step is more likely not mentioned."""
    if why_unusable(NarratedVideo(Video(task.id, ""), narration, n_segments), task):
        return np.full(len(task.steps), np.nan)
    centres, p_mentioned = mention_centres(task, narration, n_segments, encoder)
    return np.where(p_mentioned >= 0.5, np.clip(centres, 0.5, n_segments - 0.5), np.nan)


def joint_scores(
    scorer: EvidenceScorer,
    task: Task,
    features: npt.NDArray[np.floating],
    centres_s: Array,
    usual: Array,
    reliability: Reliability,
    labels: Sequence[StepLabel] = (),
) -> JointScores:
    """Log-scores (T, K) and the posterior, given narration with centres (K,) in seconds, their usual densities (K,), and labels of a person."""
    evidence = scorer.feature_evidence(task, features)
    windows, a, w = windows_of(evidence, centres_s, usual), reliability.accuracy.mean, reliability.features_weight
    if labels:
        evidence = evidence._replace(log_ratios=evidence.log_ratios + scorer.label_log_ratios(labels, len(features), task))
    ordered = joint_posterior(evidence, windows, a)
    alone = scorer.posterior(task, features, labels) if labels else scorer.posterior(task, features)
    in_step = (1 - a) * alone.in_step + a * ordered.in_step
    independent = independent_posterior(alone.in_step, evidence.mean_duration, windows, reliability)
    narrated, labelled = ~np.isnan(centres_s), [label.step for label in labels]
    narrated[labelled] = False  # a person's labels stay as they are
    mixed = np.where(narrated, w * in_step + (1 - w) * independent, in_step)
    by_order = order_posterior(evidence).in_step
    hits = (1 - a) * feature_hits(alone.in_step, by_order, reliability.informativeness) + a * ordered.in_step
    by_both = independent_hits(alone.in_step, by_order, evidence.mean_duration, windows, reliability)
    hits = np.where(narrated, w * hits + (1 - w) * by_both, hits)
    hits[:, labelled] = mixed[:, labelled]
    return JointScores(np.log(mixed + _SMALLEST_SCORE), ordered._replace(in_step=mixed), a, hits)


def joint_scores_of_one(scorer: EvidenceScorer, task: Task, features: npt.NDArray[np.floating], centres_s: Array) -> JointScores:
    """As `joint_scores` for a single video, whose few windows leave the accuracy uncertain."""
    reliability = estimate_reliability(_agreement_of(scorer, task, features, centres_s, []), len(_members(scorer)))
    return joint_scores(scorer, task, features, centres_s, np.full(len(centres_s), np.nan), reliability)


@dataclass(frozen=True)
class JointDecoder:
    """The narration of a collection of videos, and the reliability of its windows and features."""

    scorer: EvidenceScorer
    centres_s: Mapping[VideoKey, Array]  # (K,) by video that has narration
    usual: Mapping[VideoKey, Array]  # (K,) density of the windows of the task's other videos
    reliability: Reliability

    def scores(
        self, video: Video, task: Task, features: npt.NDArray[np.floating], labels: Sequence[StepLabel] = ()
    ) -> JointScores | None:
        """Scores and posterior of a video, given labels of some steps; None where it has no narration."""
        if video.key not in self.centres_s:
            return None
        centres_s, usual = self.centres_s[video.key], self.usual[video.key]
        return joint_scores(self.scorer, task, features, centres_s, usual, self.reliability, labels)


def fit_joint_decoder(scorer: object, corpus: Corpus, videos: Iterable[Video]) -> JointDecoder:
    """The joint decoder of some videos of a corpus: their windows or, where a video has none, its subtitles."""
    inner = evidence_scorer(scorer)
    centres = {} if contains_speech(corpus.feature_spec) else narration_centres(corpus, list(videos))
    if not centres:
        reason = "the features contain speech already" if contains_speech(corpus.feature_spec) else "no video has any"
        log.warning("narration is not used: %s", reason)
    of_task: dict[str, dict[VideoKey, Array]] = {}
    for key, centre in centres.items():
        of_task.setdefault(key.task, {})[key] = centre / corpus.features.length(key.video)
    others = {key: [centre for other, centre in of_task[key.task].items() if other != key] for key in centres}
    usual = {key: usual_density(of_task[key.task][key], others[key], corpus.features.length(key.video)) for key in centres}
    agreement: list[VideoAgreement] = []
    for key in list(centres)[:: max(1, -(-len(centres) // _FITTED_VIDEOS))]:
        agreement += _agreement_of(inner, corpus.tasks[key.task], corpus.features.rows(key.video), centres[key], others[key])
    return JointDecoder(inner, centres, usual, estimate_reliability(agreement, len(_members(inner))))


def _agreement_of(
    scorer: EvidenceScorer, task: Task, features: npt.NDArray[np.floating], centres_s: Array, others: Sequence[Array]
) -> list[VideoAgreement]:
    """The agreement of one video's windows with its features, by each member; none for features that cannot be used: decoding says why.

    The mean posterior of several members is too flat to tell right from wrong windows. `others` are centres (K,) in relative time of the
    task's other videos.
    """
    n_segments = len(features)
    every = [centres_s / n_segments, *others]
    chosen = [0, *range(1, len(every), max(1, -(-len(others) // _UNRELATED_VIDEOS)))]
    found = []
    try:
        for member in _members(scorer):
            evidence = member.feature_evidence(task, features)
            own, *unrelated = (_windows_at(evidence, every[i], every[:i] + every[i + 1 :]) for i in chosen)
            found.append(video_agreement(evidence, member.posterior(task, features).in_step, own, unrelated))
    except (InputError, ValueError):
        return []
    return found


def _members(scorer: EvidenceScorer) -> Sequence[EvidenceScorer]:
    """The models whose posteriors a scorer averages; itself where it is one."""
    return getattr(scorer, "members", (scorer,))


def _windows_at(evidence: FeatureEvidence, centres: Array, others: Sequence[Array]) -> Windows:
    """Windows of a video with centres (K,) in relative time, given those of other videos of the task."""
    n_segments = len(evidence.log_ratios)
    return windows_of(evidence, np.clip(centres * n_segments, 0.5, n_segments - 0.5), usual_density(centres, others, n_segments))


def narration_centres(corpus: Corpus, videos: Sequence[Video]) -> dict[VideoKey, Array]:
    """(K,) centres in seconds of every video with features and narration."""
    found: dict[VideoKey, Array] = {}
    with_features = [video for video in videos if video.id in corpus.features]
    without_windows = [v for v in with_features if v.key not in corpus.windows and v.id in corpus.subtitles]
    encoder = installed_sentence_encoder() if without_windows else None
    for video in with_features:
        if video.key in corpus.windows:
            found[video.key] = window_centres(corpus, video)
        elif video.id in corpus.subtitles:
            try:
                narration = corpus.subtitles[video.id]
            except InputError as error:
                log.warning("narration of video %s is not used: %s", video.key, error)
                continue
            found[video.key] = subtitle_centres(corpus.task_of(video), narration, corpus.n_segments(video), encoder)
    return {key: centres for key, centres in found.items() if not np.isnan(centres).all()}
