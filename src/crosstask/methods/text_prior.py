"""Step names as prior knowledge about class means, for features that have a text side (image-text models).

The text vector t of a step is a direction in feature space: frames of the step have a large product with it. In the space of whitened features
this direction gives the prior mean of the step's class (`learning/hmm/class_means.py`, `text_means`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.learning.hmm.whitening import Whitening
from crosstask.records import InputError, Task, TextSide
from crosstask.text.encoders.image_text import text_vectors

Arrays = dict[str, npt.NDArray[np.generic]]


def text_directions(side: TextSide, tasks: Sequence[Task], whitening: Whitening) -> npt.NDArray[np.float64]:
    """(C, d) directions of the steps of all tasks in the space of whitened features, task after task; zero for each background."""
    n_columns = len(whitening.deviation)
    check_columns(side, n_columns)
    found = []
    for task in tasks:
        full = np.zeros((len(task.steps) + 1, n_columns))
        full[:-1, side.columns] = text_vectors(side, task.steps)
        scaled = full * np.where(np.isfinite(whitening.deviation), whitening.deviation, 0.0)
        found.append(scaled if whitening.directions is None else scaled @ whitening.directions)
    return np.concatenate(found)


def check_columns(side: TextSide, n_columns: int) -> None:
    """Raise an error if features of this width cannot have that text side."""
    if side.first + side.width > n_columns:
        raise InputError(
            f"features have {n_columns} columns; the text side {side.model} belongs to columns {side.first} to "
            f"{side.first + side.width - 1}: extract features and text side again"
        )


def with_names_of(side: TextSide, tasks: Sequence[Task]) -> TextSide:
    """The text side with the vectors of the steps of some tasks beside those that it has."""
    names = sorted({step for task in tasks for step in task.steps})
    return replace(side, vectors={**side.vectors, **dict(zip(names, text_vectors(side, names), strict=True))}) if names else side


def only_names_of(side: TextSide, tasks: Sequence[Task]) -> TextSide:
    """The text side with the vectors of the steps of some tasks, and of no others: what a model file stores."""
    names = {step for task in tasks for step in task.steps}
    return replace(side, vectors={name: vector for name, vector in side.vectors.items() if name in names})


def with_text_side(scorer: Any, side: TextSide | None) -> Any:
    """The scorer, or model, with all that a corpus or a user knows of its text side: more names, and the folder of its model."""
    if hasattr(scorer, "scorer"):  # a model
        inner = with_text_side(scorer.scorer, side)
        return scorer if inner is scorer.scorer else replace(scorer, scorer=inner)
    own = getattr(scorer, "text_side", None)
    if own is None or side is None or side.model != own.model:
        return scorer
    known = replace(own, vectors={**side.vectors, **own.vectors}, folder=side.folder or own.folder)
    return scorer.with_changes(text_side=known) if hasattr(scorer, "with_changes") else replace(scorer, text_side=known)


def text_side_to_values(side: TextSide) -> tuple[Arrays, dict[str, object]]:
    """Arrays and plain values for a model file; the folder is left out, as it differs between computers."""
    names = sorted(side.vectors)
    vectors = np.array([side.vectors[name] for name in names], dtype=np.float32).reshape(len(names), side.width)
    values: dict[str, object] = {"model": side.model, "first": side.first, "width": side.width, "names": names}
    return {"text_vectors": vectors}, {"text_side": values}


def text_side_from(arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]) -> TextSide | None:
    """The inverse of `text_side_to_values`; None where a model has no text side."""
    if "text_side" not in values:
        return None
    about, vectors = values["text_side"], np.asarray(arrays["text_vectors"], dtype=np.float32)
    first, width, names = int(about["first"]), int(about["width"]), [str(name) for name in about["names"]]
    if vectors.shape != (len(names), width) or first < 0:
        raise InputError("model file: its text side does not fit its vectors; train it again")
    return TextSide(str(about["model"]), first, width, dict(zip(names, vectors, strict=True)))
