"""What `fit` leaves to people: a scorer with its step lists and feature recipe, the ordered inference around it, and one file to keep it in.

The file is safetensors: arrays, and one metadata entry of sorted JSON, so that the same model is always the same bytes.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from crosstask.features.pack import all_finite
from crosstask.inference import BadCost, NoOrderedAnswer, decode_once
from crosstask.inference.absence import scores_at
from crosstask.inference.intervals import intervals_around
from crosstask.methods.component_scorer import ComponentScorer, component_scorer_from
from crosstask.methods.protocols import Scorer
from crosstask.methods.task_scorer import task_scorer_from
from crosstask.records import FoundStep, InputError, Localization, Task, VideoKey, parse_video_key
from crosstask.storage import digest_of, write_bytes

FORMAT = 1


class StoredScorer(Protocol):
    """A scorer that can be kept in a file."""

    @property
    def kind(self) -> str:
        """Its name in `SCORERS`."""
        ...

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K)."""
        ...

    def unknown_words(self, task: Task) -> tuple[str, ...]:
        """Words of the task's steps that were never trained."""
        ...

    def unknown_steps(self, task: Task) -> list[str]:
        """Steps none of whose words was trained."""
        ...

    def to_arrays(self) -> tuple[dict[str, npt.NDArray[np.generic]], dict[str, object]]:
        """Arrays and plain values for the file."""
        ...


def _hmm_scorer_from(arrays: dict[str, npt.NDArray[np.generic]], values: dict[str, object]) -> StoredScorer:
    from crosstask.methods.hmm import hmm_scorer_from  # loaded for the models that need it

    return hmm_scorer_from(arrays, values)


_FORMER_KINDS = {"self-labelled": "hmm"}  # what model files of version 0.1 call a scorer
SCORERS: dict[str, Callable[[dict[str, npt.NDArray[np.generic]], dict[str, object]], StoredScorer]] = {
    "component": component_scorer_from,
    "task-linear": task_scorer_from,
    "hmm": _hmm_scorer_from,
}


@dataclass(frozen=True)
class Model:
    """A trained scorer and everything needed to use it on a new video."""

    scorer: StoredScorer
    tasks: Mapping[str, Task]
    method: str = "proposed"
    feature_spec: str = "unknown"
    trained_on: frozenset[VideoKey] = frozenset()
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K), higher is better."""
        return self.scorer.score(task, features)

    def localize(self, task: Task, features: npt.NDArray[np.floating], video: str = "") -> Localization:
        """Where each step of the task happens in a video."""
        name = video or "the video"
        if len(features) < len(task.steps):
            raise InputError(
                f"{name}: {len(features)} segments cannot hold {len(task.steps)} steps in order; give a longer video or fewer steps"
            )
        if not all_finite(features):
            raise InputError(f"{name}: its features hold NaN or infinity; extract them again")
        scores = self.score(task, features)
        return parse(task, scores, video, absence_thresholds_of(self, task))


def absence_thresholds_of(scorer: Scorer, task: Task) -> npt.NDArray[np.float64] | None:
    """(K,) scores below which a step counts as absent, where the scorer (or the model around it) learnt them from a collection."""
    inner = scorer.scorer if isinstance(scorer, Model) else scorer
    if getattr(inner, "kind", "") != "hmm":
        return None
    from crosstask.methods.hmm import HmmScorer

    return inner.absence_thresholds(task) if isinstance(inner, HmmScorer) else None


def parse(
    task: Task, scores: npt.NDArray[np.floating], video: str = "", least: npt.NDArray[np.float64] | None = None
) -> Localization:
    """The ordered parse of scores (T, K): one second per step, a span around it, and whether it is shown: its score is not below its least."""
    try:
        times = decode_once(-scores)
    except NoOrderedAnswer as error:
        raise InputError(f"{video or 'the video'}: {error}") from None
    except BadCost as error:
        raise InputError(f"{video or 'the video'}: the model gives it no score ({error}); is the model damaged?") from None
    starts, ends = intervals_around(scores, times)
    shown = np.ones(len(times), dtype=np.bool_) if least is None else scores_at(scores, times) >= least
    return Localization(
        video,
        task.id,
        tuple(
            FoundStep(step, int(t), float(scores[t, k]), float(starts[k]), float(ends[k]), bool(shown[k]))
            for k, (step, t) in enumerate(zip(task.steps, times, strict=True))
        ),
    )


def save_model(model: Model, path: Path) -> Path:
    """`path`, now holding the model."""
    from safetensors.numpy import save

    arrays, values = model.scorer.to_arrays()
    description = {
        "format": FORMAT,
        "kind": model.scorer.kind,
        "method": model.method,
        "values": values,
        "tasks": [
            {"id": t.id, "title": t.title, "steps": list(t.steps), "url": t.url, "primary": t.primary}
            for t in model.tasks.values()
        ],
        "feature_spec": model.feature_spec,
        "trained_on": sorted(str(key) for key in model.trained_on),
        "settings": dict(model.settings),
        "seed": model.seed,
    }
    contiguous = {name: np.ascontiguousarray(a) for name, a in sorted(arrays.items())}
    text = json.dumps(description | {"digest": digest_of(contiguous)}, sort_keys=True, ensure_ascii=False)
    return write_bytes(path, save(contiguous, {"crosstask": text}))


def load_model(path: Path) -> Model:
    """The model in a file; anything else is refused."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise InputError(f"{path}: no such model file; `crosstask train CORPUS --out {path.name}` makes one")
    try:
        with safe_open(path, framework="numpy") as file:
            description = json.loads((file.metadata() or {}).get("crosstask", "null"))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dictionary
    except (SafetensorError, ValueError, OSError, KeyError, RecursionError):
        raise InputError(f"{path}: not a crosstask model; expected a .safetensors file written by `crosstask train`") from None
    return _model_from(path, description, arrays)


def _model_from(path: Path, description: Any, arrays: dict[str, npt.NDArray[np.generic]]) -> Model:
    if not isinstance(description, dict) or "format" not in description:
        raise InputError(f"{path}: a safetensors file of another program; expected one written by `crosstask train`")
    if description["format"] != FORMAT:
        raise InputError(
            f"{path}: model format {description['format']}; this version reads format {FORMAT}: use a newer crosstask"
        )
    if description.get("digest", digest_of(arrays)) != digest_of(arrays):
        raise InputError(f"{path}: damaged: its numbers do not match their checksum; copy or train it again")
    try:
        tasks = {
            t["id"]: Task(t["id"], t["title"], tuple(t["steps"]), t["url"], bool(t["primary"])) for t in description["tasks"]
        }
        kind = str(description["kind"])
        scorer = SCORERS[_FORMER_KINDS.get(kind, kind)](arrays, description["values"])
        return Model(
            scorer,
            tasks,
            str(description["method"]),
            str(description["feature_spec"] if "feature_spec" in description else description["feature_recipe"]),
            frozenset(parse_video_key(key) for key in description["trained_on"]),
            description["settings"],
            int(description["seed"]),
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise InputError(f"{path}: damaged model description ({error}); train it again") from None


def component_model(scorer: ComponentScorer, tasks: Mapping[str, Task], **described: Any) -> Model:
    """A model around a component scorer."""
    return Model(scorer, tasks, **described)
