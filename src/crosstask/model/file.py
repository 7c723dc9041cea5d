"""A model file: safetensors with the arrays of the scorer, and one metadata entry of sorted JSON, so that equal models are equal bytes."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from crosstask.methods.component_scorer import component_scorer_from
from crosstask.methods.task_scorer import task_scorer_from
from crosstask.model.model import Model
from crosstask.records import InputError, Task, parse_video_key, path_argument
from crosstask.storage import UnreadableFile, content_is_intact, followed, refuse_other_content, with_content_digest, write_bytes
from crosstask.text.sharing import SharingFunction, sharing_name

_ENTRY = "crosstask"  # of the metadata
MODEL_MARK = b'"crosstask":'  # of a model in a safetensors header
FORMAT = 1
# In a model of the default method: deviations of feature columns, and thresholds that version 0.1 wrote, which are no longer used.
_MAY_BE_INFINITE = ("unit", ".least")
Arrays = dict[str, npt.NDArray[np.generic]]


class StoredScorer(Protocol):
    """A scorer that can be stored in a model file."""

    @property
    def kind(self) -> str:
        """Its name in `SCORERS`."""
        ...

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K)."""
        ...

    def to_arrays(self) -> tuple[Arrays, dict[str, object]]:
        """Arrays and plain values for the file."""
        ...


def _hmm_from(arrays: Arrays, values: dict[str, object]) -> StoredScorer:
    from crosstask.methods.hmm_file import hmm_from  # loaded only for models of this kind

    return hmm_from(arrays, values)


def _set_network_scorer_from(arrays: Arrays, values: dict[str, object]) -> StoredScorer:
    from crosstask.methods.richard18 import set_network_scorer_from  # loads the training of a baseline, which others do not need

    return set_network_scorer_from(arrays, values)


def _zero_shot_scorer_from(arrays: Arrays, values: dict[str, object]) -> StoredScorer:
    from crosstask.methods.zero_shot import zero_shot_scorer_from

    return zero_shot_scorer_from(arrays, values)


def _deep_scorer_from(arrays: Arrays, values: dict[str, object]) -> StoredScorer:
    from crosstask.methods.deep import deep_scorer_from

    return deep_scorer_from(arrays, values)


SCORERS: dict[str, Callable[[Arrays, dict[str, object]], StoredScorer]] = {
    "component": component_scorer_from,
    "task-linear": task_scorer_from,
    "set-network": _set_network_scorer_from,
    "hmm": _hmm_from,
    "zero-shot": _zero_shot_scorer_from,
    "deep": _deep_scorer_from,
}
_FORMER_KINDS = {"self-labelled": "hmm"}  # as version 0.1 wrote it
_FORMER_METHODS = {"best": "hmm", "proposed": "zhukov19"}


def save_model(model: Model, path: str | Path) -> Path:
    """`path`, now containing the model."""
    from safetensors.numpy import save

    scorer: Any = model.scorer
    if not hasattr(scorer, "to_arrays") or getattr(scorer, "kind", None) not in SCORERS:
        raise InputError(
            f"a {type(scorer).__name__} cannot be saved: it has no `kind` and `to_arrays` that a model file knows; "
            "use it in this process, or compare it with `experiment`"
        )
    arrays, values = scorer.to_arrays()
    description = {
        "format": FORMAT,
        "kind": scorer.kind,
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
    text = json.dumps(with_content_digest(description, contiguous), sort_keys=True, ensure_ascii=False)
    place = followed(path_argument(path, "the model file to write"))
    if place.is_dir():
        raise InputError(f"{path}: a folder; expected the name of a model file")
    try:
        refuse_other_content(place, MODEL_MARK)
    except UnreadableFile as error:
        raise InputError(f"{path}: {error.strerror}") from None
    return write_bytes(place, save(contiguous, {_ENTRY: text}))


def load_model(path: str | Path, sharing: SharingFunction | None = None) -> Model:
    """The model in a file written by `crosstask train` or `Model.save`; anything else is refused. No code is ever loaded from it.

    A model trained with a sharing function of one's own needs it again for new tasks: `sharing`.
    """
    from safetensors import SafetensorError, safe_open

    path = path_argument(path, "a model file written by train")
    if path.is_dir():
        raise InputError(f"{path}: a folder; expected a model file, such as the model.safetensors of a run folder")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: a pipe or device; expected a model file")
    if not path.exists():
        raise InputError(f"{path}: no such model file; `crosstask train CORPUS --out {path.name}` makes one")
    try:
        with safe_open(path, framework="numpy") as file:
            description = json.loads((file.metadata() or {}).get(_ENTRY, "null"))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dictionary
    except (SafetensorError, ValueError, OSError, KeyError, RecursionError):
        raise InputError(f"{path}: not a crosstask model; expected a .safetensors file written by `crosstask train`") from None
    model = _model_from(path, description, arrays)
    return model if sharing is None else replace(model, scorer=_with_sharing(path, model.scorer, model.settings, sharing))


def _with_sharing(path: Path, scorer: Any, settings: Mapping[str, Any], sharing: SharingFunction) -> Any:
    trained_with, given = settings.get("sharing"), sharing_name(sharing)
    if trained_with not in (None, given):
        raise InputError(
            f"{path}: trained with the sharing '{trained_with}', not '{given}'; leave it out, or give the function of that name"
        )
    if hasattr(scorer, "vocabulary"):
        return replace(scorer, vocabulary=replace(scorer.vocabulary, sharing=sharing))
    if hasattr(scorer, "with_changes"):
        return scorer.with_changes(sharing=sharing)
    raise InputError(f"{path}: its method shares nothing between tasks; leave out the sharing function")


def _is_usable(name: str, array: npt.NDArray[Any]) -> bool:
    """True if an array is finite; deviations may be infinite, which is that of a constant column, and so may former thresholds."""
    if array.dtype.kind != "f":
        return True
    return not np.isnan(array).any() if name.endswith(_MAY_BE_INFINITE) else bool(np.isfinite(array).all())


def _model_from(path: Path, description: Any, arrays: Arrays) -> Model:
    if not isinstance(description, dict) or "format" not in description:
        raise InputError(f"{path}: a safetensors file of another program; expected one written by `crosstask train`")
    if description["format"] != FORMAT:
        raise InputError(
            f"{path}: model format {description['format']}; this version reads format {FORMAT}: use a newer crosstask"
        )
    if not content_is_intact(description, arrays):
        raise InputError(f"{path}: damaged: its contents do not match their checksum; copy or train it again")
    if unusable := [name for name, a in arrays.items() if not _is_usable(name, a)]:
        raise InputError(f"{path}: damaged: '{unusable[0]}' has values that are not finite; train it again")
    try:
        tasks = {t["id"]: Task(t["id"], t["title"], t["steps"], t["url"], bool(t["primary"])) for t in description["tasks"]}
        kind, method = str(description["kind"]), str(description["method"])
        spec = description["feature_spec"] if "feature_spec" in description else description["feature_recipe"]
        values = {**description["values"], "steps": {task.id: task.steps for task in tasks.values()}}
        return Model(
            SCORERS[_FORMER_KINDS.get(kind, kind)](arrays, values),
            tasks,
            _FORMER_METHODS.get(method, method),
            str(spec),
            frozenset(parse_video_key(key, tasks) for key in description["trained_on"]),
            dict(description["settings"]),
            int(description["seed"]),
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise InputError(f"{path}: damaged model description ({error}); train it again") from None
