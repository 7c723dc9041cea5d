"""Evaluation of a model or method on annotated videos: the scores of every method are decoded by the same ordered inference."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from crosstask.evaluation.paired import METRICS
from crosstask.features.pack import finite_rows
from crosstask.features.spec_file import UNKNOWN, refuse_other_spec
from crosstask.inference import DECODERS, decode_scores, decoder_of
from crosstask.inference.intervals import intervals_around
from crosstask.inference.validation import no_ordered_answer
from crosstask.methods import method_named
from crosstask.methods.own_code import is_own
from crosstask.methods.protocols import Scorer
from crosstask.methods.table import UNTRAINED, canonical_name, resolve_method
from crosstask.methods.text_prior import with_text_side
from crosstask.metrics.average_precision import FrameAveragePrecision
from crosstask.metrics.intervals import IntervalMetrics
from crosstask.metrics.matched_f1 import MatchedF1
from crosstask.metrics.recall import StepRecall, mean_over_tasks
from crosstask.metrics.truth import annotated_videos, true_segments
from crosstask.narration.joint_decoding import JointDecoder, fit_joint_decoder
from crosstask.records import (
    Corpus,
    InputError,
    Task,
    Video,
    choice_argument,
    corpus_argument,
    flag_argument,
    videos_argument,
    whole_argument,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

log = logging.getLogger(__name__)
_NAMED = 20  # videos that a warning lists


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The metrics of one model: fractions by task, and the reason for each video that was skipped.

    recall: step recall, the paper's measure; map: frame-level mean average precision; f1: matched F1 of Alayrac et al. (2016);
    start_5s: share of present steps whose start is found within 5 s; iou: mean IoU of the predicted interval over present steps.
    """

    by_metric: Mapping[str, Mapping[str, float]]  # metric -> task id -> value
    n_videos: int = 0
    skipped: Mapping[str, str] = field(default_factory=dict)
    recall_by_step: Mapping[str, list[float | None]] = field(default_factory=dict)
    steps_without_positives: int = 0
    hits_by_video: Mapping[str, list[bool | None]] = field(default_factory=dict)  # "TASK_VIDEO" -> steps; None where not shown

    @property
    def recall(self) -> float:
        """Step recall, mean over tasks."""
        return mean_over_tasks(self.by_metric["recall"])

    @property
    def map(self) -> float:
        """Frame mAP, mean over tasks."""
        return mean_over_tasks(self.by_metric["map"])

    @property
    def f1(self) -> float:
        """Matched F1, mean over tasks."""
        return mean_over_tasks(self.by_metric["f1"])

    @property
    def start_5s(self) -> float:
        """Share of present steps whose start is found within 5 s, mean over tasks."""
        return mean_over_tasks(self.by_metric["start_5s"])

    @property
    def iou(self) -> float:
        """Mean IoU over present steps, mean over tasks."""
        return mean_over_tasks(self.by_metric["iou"])

    @property
    def by_task(self) -> dict[str, dict[str, float]]:
        """Task id -> metric -> value."""
        tasks = sorted({task for of in self.by_metric.values() for task in of})
        return {task: {m: self.by_metric[m][task] for m in METRICS if task in self.by_metric[m]} for task in tasks}

    def to_json(self) -> dict[str, Any]:
        """The JSON of `evaluate`: fractions, per task and as the mean over tasks."""
        shape: dict[str, Any] = {
            metric: {"mean": mean_over_tasks(self.by_metric[metric]), "tasks": dict(self.by_metric[metric])} for metric in METRICS
        }
        shape["map"]["steps_without_positives"] = self.steps_without_positives
        return shape | {"videos": self.n_videos, "skipped": dict(self.skipped)}

    def to_dataframe(self) -> "pd.DataFrame":
        """A pandas DataFrame with a row per task; needs pandas."""
        import pandas as pd

        return pd.DataFrame.from_dict(self.by_task, orient="index", columns=list(METRICS))

    def plot(self) -> "Figure":
        """A Matplotlib figure: step recall of each task as bars."""
        from matplotlib.figure import Figure

        recalls = self.by_metric["recall"]
        figure = Figure(figsize=(7, 1 + 0.3 * len(recalls)), layout="constrained")
        axis = figure.add_subplot()
        axis.barh(list(recalls), [100 * value for value in recalls.values()])
        axis.axvline(100 * self.recall, color="black", linestyle="--", label=f"mean {100 * self.recall:.1f}")
        axis.set_xlabel("step recall, %")
        axis.invert_yaxis()
        axis.legend()
        return figure

    def __repr__(self) -> str:
        """The means over tasks, in percent."""
        means = ", ".join(f"{metric} {100 * mean_over_tasks(self.by_metric[metric]):.1f}" for metric in METRICS)
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        return f"Evaluation of {self.n_videos} videos of {len(self.by_metric['recall'])} tasks{skipped}; in %: {means}"

    def _repr_html_(self) -> str:
        """A small table for notebooks: at most 30 tasks, and the mean."""
        head = "".join(f"<th>{metric}</th>" for metric in METRICS)
        lines = [(task, of) for task, of in list(self.by_task.items())[:30]]
        lines.append(("mean over tasks", {m: mean_over_tasks(self.by_metric[m]) for m in METRICS}))
        rows = "".join(
            f"<tr><td>{task}</td>" + "".join(f"<td>{100 * of[m]:.1f}</td>" if m in of else "<td></td>" for m in METRICS) + "</tr>"
            for task, of in lines
        )
        return f"<table><tr><th>%</th>{head}</tr>{rows}</table>"


def evaluate(
    model: Scorer | str,
    corpus: Corpus,
    videos: Iterable[str | Video] | None = None,
    decoder: str | None = None,
    seed: int = 0,
    advance: Callable[[], None] = lambda: None,
    with_narration: bool = False,
) -> Evaluation:
    """The evaluation of a model, or of an untrained method by name, on annotated videos of a corpus.

    A class of your own, "FILE.py:Class", is first fitted on the videos of the corpus that are not evaluated.

    `videos` are keys "TASK_VIDEO"; by default every annotated video of the primary tasks that is not for validation.
    `with_narration`: the windows of the evaluated videos, or their subtitles, are evidence beside the features; the
    paper's protocol uses features alone.
    `decoder` is one of DECODERS; by default the model's own: `free` for `hmm`, `once` for the other methods.
    """
    if not isinstance(model, str) and not hasattr(model, "score"):
        raise InputError(f"a {type(model).__name__} cannot be evaluated; expected a model, or a method's name such as 'uniform'")
    corpus, seed = corpus_argument(corpus), whole_argument(seed, "seed")
    choice_argument(decoder, "decoder", DECODERS)
    refuse_other_spec(getattr(model, "feature_spec", UNKNOWN), corpus.feature_spec)
    tested = annotated_videos(corpus) if videos is None else videos_argument(videos, corpus)
    if not tested:
        raise InputError(f"corpus '{corpus.name}': no annotated video to evaluate; expected annotations/TASK_VIDEO.csv")
    scorer = _named(model, corpus, tested, seed) if isinstance(model, str) else with_text_side(model, corpus.text_side)
    joint = fit_joint_decoder(scorer, corpus, tested) if flag_argument(with_narration, "with_narration") else None
    found = evaluate_videos(corpus, scorer, tested, advance, decoder, joint)
    if not found.n_videos:
        raise InputError(f"corpus '{corpus.name}': no video could be evaluated; the first: {next(iter(found.skipped.values()))}")
    if not found.by_metric["recall"]:
        raise InputError(
            f"corpus '{corpus.name}': no evaluated video shows a step; expected step,start,end in annotations/TASK_VIDEO.csv"
        )
    return found


def _named(name: str, corpus: Corpus, tested: Sequence[Video], seed: int) -> Scorer:
    """A method that needs no training, as a scorer; a class of the user's own is fitted on the videos that are not evaluated."""
    if is_own(name):
        held_out = set(tested)
        rest = [v for v in corpus.videos if v not in held_out and v.key not in corpus.validation and v.id in corpus.features]
        return resolve_method(name).fit(corpus.only(rest), np.random.default_rng(seed))
    method = canonical_name(name)
    if method not in UNTRAINED:
        raise InputError(
            f"method '{method}' must be trained first: `crosstask train CORPUS --method {method} --out FILE`, then --model FILE; "
            "in Python, evaluate(train(corpus, method), corpus)"
        )
    return method_named(method).fit(corpus, np.random.default_rng(seed))


def evaluate_videos(
    corpus: Corpus,
    scorer: Scorer,
    videos: Iterable[Video],
    advance: Callable[[], None] = lambda: None,
    decoder: str | None = None,
    joint: JointDecoder | None = None,
) -> Evaluation:
    """The evaluation of a scorer on some annotated videos; a video that cannot be evaluated is listed in `skipped`.

    With `joint`, videos that have narration are scored by features and narration together.
    """
    recall, average_precision, f1, intervals = StepRecall(), FrameAveragePrecision(), MatchedF1(), IntervalMetrics()
    skipped: dict[str, str] = {}
    hits: dict[str, list[bool | None]] = {}
    for video in videos:
        try:
            truth = true_segments(corpus, video)
            task, features = corpus.task_of(video), features_of(corpus, video)
            if len(features) < len(task.steps):  # for every decoder, so that methods are compared on the same videos
                raise no_ordered_answer(len(features), len(task.steps), None)
            narrated = joint.scores(video, task, features) if joint is not None else None
            scores = narrated.scores if narrated is not None else scores_of(scorer, task, features)
            moments = decode_scores(scores, decoder_of(scorer, decoder))
            placed = np.where(moments >= 0, moments, 0)
            found = narrated.intervals(placed) if narrated is not None else intervals_around(scores, placed)
        except UnfitScores:
            raise  # the fault of the method, not of this video
        except InputError as error:
            skipped[str(video.key)] = reason_for(video, error)
        except ValueError as error:
            skipped[str(video.key)] = f"video {video.key}: {error}"
        else:
            hits[str(video.key)] = recall.add(video.task, moments, truth)
            average_precision.add(video.task, scores, truth)
            f1.add(video.task, moments, truth)
            intervals.add(video.task, found, moments >= 0, corpus.annotations[video.key], len(scores))
        advance()
    by_metric = {
        "recall": recall.by_task(),
        "map": average_precision.by_task(),
        "f1": f1.by_task(),
        "start_5s": intervals.start_5s(),
        "iou": intervals.iou(),
    }
    return Evaluation(by_metric, len(hits), skipped, recall.by_step(), average_precision.steps_without_positives(), hits)


def log_skipped(skipped: Mapping[str, str]) -> None:
    """Log why videos were skipped, the first few by name."""
    for key in sorted(skipped)[:_NAMED]:
        log.warning("skipped: %s", skipped[key])
    if len(skipped) > _NAMED:
        log.warning("and %d more videos were skipped", len(skipped) - _NAMED)


def reason_for(video: Video, error: InputError) -> str:
    """Why a video is skipped, with its name also where the error does not know it, as one of a model that was given arrays."""
    return str(error) if video.id in str(error) else f"video {video.key}: {error}"


class UnfitScores(InputError):
    """A method of the user's own returned something else than scores (T, K)."""


def scores_of(scorer: Scorer, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Scores (T, K) of a video; of a method of the user's own they may be of any shape, which is refused."""
    name = type(scorer).__name__
    if not callable(getattr(scorer, "score", None)):
        raise UnfitScores(f"fit returned a {name}; expected an object with score(task, features)")
    scores = np.asarray(scorer.score(task, features))
    expected = (len(features), len(task.steps))
    if scores.shape != expected or scores.dtype.kind not in "fiu":
        raise UnfitScores(
            f"{name}.score returned {scores.dtype} of shape {scores.shape} for task '{task.title}'; expected numbers of shape "
            f"{expected}: a row a second, a column a step"
        )
    return scores if scores.dtype.kind == "f" else scores.astype(np.float64)


def features_of(corpus: Corpus, video: Video) -> npt.NDArray[np.floating]:
    """Finite features (T, D) of a video; (T, 0) where the corpus knows only its length."""
    if video.id in corpus.features:
        return finite_rows(corpus.features.rows(video.id), f"video {video.key}")
    return np.empty((corpus.n_segments(video), 0), dtype=np.float32)
