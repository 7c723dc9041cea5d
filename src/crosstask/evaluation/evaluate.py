"""Evaluation of a scorer on annotated videos: the scores of every method are decoded by the same ordered inference."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.inference import decode_scores
from crosstask.methods.protocols import Scorer
from crosstask.metrics.average_precision import FrameAveragePrecision
from crosstask.metrics.matched_f1 import MatchedF1
from crosstask.metrics.recall import StepRecall, mean_over_tasks
from crosstask.metrics.truth import true_segments
from crosstask.records import Corpus, InputError, Video

log = logging.getLogger(__name__)


@dataclass
class Evaluation:
    """Recall, mAP and F1 of one scorer, and the reason for each video that was skipped."""

    recall: StepRecall = field(default_factory=StepRecall)
    average_precision: FrameAveragePrecision = field(default_factory=FrameAveragePrecision)
    f1: MatchedF1 = field(default_factory=MatchedF1)
    n_videos: int = 0
    skipped: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The JSON of `evaluate`: fractions, per task and as the mean over tasks."""
        return {
            "recall": _with_mean(self.recall.by_task()),
            "map": _with_mean(self.average_precision.by_task())
            | {"steps_without_positives": self.average_precision.steps_without_positives()},
            "f1": _with_mean(self.f1.by_task()),
            "videos": self.n_videos,
            "skipped": self.skipped,
        }


def _with_mean(by_task: dict[str, float]) -> dict[str, Any]:
    return {"mean": mean_over_tasks(by_task), "tasks": by_task}


def evaluate(
    corpus: Corpus,
    scorer: Scorer,
    videos: Iterable[Video],
    advance: Callable[[], None] = lambda: None,
    decoder: str = "once",
) -> Evaluation:
    """Recall, mAP and F1 of a scorer on annotated videos; a video that cannot be evaluated is listed in `skipped`."""
    result = Evaluation()
    for video in videos:
        try:
            truth = true_segments(corpus, video)
            scores = scorer.score(corpus.task_of(video), features_of(corpus, video))
            moments = decode_scores(scores, decoder)
        except InputError as error:
            result.skipped[str(video.key)] = str(error)
        except ValueError as error:
            result.skipped[str(video.key)] = f"video {video.key}: {error}"
        else:
            result.recall.add(video.task, moments, truth)
            result.average_precision.add(video.task, scores, truth)
            result.f1.add(video.task, moments, truth)
            result.n_videos += 1
        advance()
    return result


def features_of(corpus: Corpus, video: Video) -> npt.NDArray[np.floating]:
    """Features (T, D) of a video; (T, 0) where the corpus knows only its length."""
    if video.id in corpus.features:
        return corpus.features.rows(video.id)
    return np.empty((corpus.n_segments(video), 0), dtype=np.float32)
