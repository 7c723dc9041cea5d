"""A model of the default method as the arrays and plain values of a model file."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.learning.hmm.class_means import MeanPrior
from crosstask.learning.hmm.em import EmSettings, HmmParameters
from crosstask.learning.hmm.task_prior import (
    N_BINS,
    TaskPrior,
)
from crosstask.learning.hmm.whitening import Whitening
from crosstask.methods.hmm_scorer import HmmScorer
from crosstask.methods.text_prior import only_names_of, text_side_from, text_side_to_values
from crosstask.records import InputError, Task
from crosstask.text.sharing import sharing_from_values, sharing_to_values
from crosstask.text.word_kernel import (
    WORDS_OF_CLASS,
)


def hmm_to_arrays(scorer: HmmScorer) -> tuple[dict[str, npt.NDArray[np.generic]], dict[str, object]]:
    """Arrays and plain values for the model file; their names are those of version 0.1, so that files stay exchangeable."""
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "unit": scorer.whitening.deviation,
        "coefficients": scorer.parameters.coefficients.astype(np.float32),
        "covariance": scorer.parameters.covariance.astype(np.float32),
    }
    if scorer.vectors is not None:
        arrays["step_vectors"] = scorer.vectors.astype(np.float16)
    if scorer.whitening.directions is not None:
        arrays["directions"] = scorer.whitening.directions
    for number, prior in enumerate(scorer.parameters.priors):
        arrays[f"habits.{number:04d}.position"] = prior.position.astype(np.float32)
        arrays[f"habits.{number:04d}.length"] = prior.duration.astype(np.float32)
        arrays[f"habits.{number:04d}.presence"] = prior.presence.astype(np.float32)
    values: dict[str, object] = {
        "trained_tasks": [{"id": t.id, "title": t.title, "steps": list(t.steps)} for t in scorer.tasks],
        **sharing_to_values(scorer.sharing, WORDS_OF_CLASS, scorer.tasks),
        "background_lengths": [prior.background_duration for prior in scorer.parameters.priors],
        "windows_used": scorer.parameters.windows_used,
        "n_videos": list(scorer.n_videos),
        "em_settings": asdict(scorer.settings),
    }
    if scorer.text_side is not None:
        text_arrays, text_values = text_side_to_values(only_names_of(scorer.text_side, scorer.tasks))
        return arrays | text_arrays, values | text_values
    return arrays, values


def hmm_scorer_from(arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]) -> HmmScorer:
    """The inverse of `to_arrays`."""
    try:
        tasks = tuple(Task(t["id"], t["title"], tuple(t["steps"])) for t in values["trained_tasks"])
        for text in (text for t in tasks for text in (t.id, t.title, *t.steps)):
            str.encode(text, "utf-8")  # a TypeError for anything but text, a ValueError for half of a character
        priors = tuple(
            TaskPrior(
                arrays[f"habits.{i:04d}.position"].astype(np.float64),
                arrays[f"habits.{i:04d}.length"].astype(np.float64),
                float(values["background_lengths"][i]),
                arrays[f"habits.{i:04d}.presence"].astype(np.float64),
            )
            for i in range(len(tasks))
        )
        coefficients, covariance = arrays["coefficients"].astype(np.float64), arrays["covariance"].astype(np.float64)
        whitening = Whitening(arrays["unit"], arrays.get("directions"))
        parameters = HmmParameters(coefficients, covariance, priors, bool(values["windows_used"]))
        settings = _settings_from(values.get("em_settings", {}))
        n_videos = tuple(int(n) for n in values.get("n_videos", ()))
        vectors = arrays["step_vectors"].astype(np.float32) if "step_vectors" in arrays else None
        side = text_side_from(arrays, values)
    except InputError:
        raise
    except (KeyError, TypeError, IndexError, ValueError, OverflowError) as error:
        raise InputError(f"model file: a part is missing ({error}); train it again") from None
    fits = len(coefficients) == sum(len(t.steps) + 1 for t in tasks) and covariance.shape == (whitening.width, whitening.width)
    fits &= vectors is None or (vectors.ndim == 2 and len(vectors) == len(coefficients))
    if not fits or coefficients.shape[1] != whitening.width:
        raise InputError("model file: its step lists do not fit its weights; train it again")
    if not all(0 < prior.background_duration < np.inf for prior in priors):
        raise InputError("model file: background duration must be positive and finite; train it again")
    if not all(_is_possible(prior, len(t.steps)) for prior, t in zip(priors, tasks, strict=True)):
        raise InputError("model file: a prior of positions, durations or presence does not fit its step list; train it again")
    try:
        np.linalg.inv(covariance)
    except np.linalg.LinAlgError:
        raise InputError("model file: its covariance is singular; train it again") from None
    sharing = sharing_from_values(values, WORDS_OF_CLASS)
    return HmmScorer(whitening, parameters, tasks, sharing, settings, n_videos, vectors, side)


def _is_possible(prior: TaskPrior, n_steps: int) -> bool:
    """True if the arrays of a prior have the shapes and values that training gives them."""
    shapes = prior.position.shape == (N_BINS, n_steps + 1) and prior.duration.shape == prior.presence.shape == (n_steps,)
    return shapes and bool(
        (prior.position > 0).all() and (prior.duration >= 0).all() and (prior.presence >= 0).all() and (prior.presence <= 1).all()
    )


def _settings_from(values: Mapping[str, Any]) -> EmSettings:
    """The settings in a model file; files of version 0.1 were always trained with the default ones."""
    if unknown := sorted(set(values) - {field.name for field in fields(EmSettings)}):
        raise InputError(
            f"model file: setting '{unknown[0]}' is unknown, so another version of crosstask wrote it; train it again"
        )
    mean_prior = {f.name: float(values["mean_prior"][f.name]) for f in fields(MeanPrior)} if values else {}
    return EmSettings(**{**values, "mean_prior": MeanPrior(**mean_prior)})
