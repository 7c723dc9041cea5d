"""A model of the default method as the arrays and plain values of a model file."""

from collections.abc import Mapping, Sequence
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
from crosstask.methods.hmm_ensemble import HmmEnsemble
from crosstask.methods.hmm_scorer import HmmScorer
from crosstask.methods.text_prior import only_names_of, text_side_from, text_side_to_values
from crosstask.records import InputError, Task
from crosstask.text.sharing import sharing_from_values, sharing_to_values
from crosstask.text.word_kernel import (
    WORDS_OF_CLASS,
)


def hmm_to_arrays(model: HmmEnsemble) -> tuple[dict[str, npt.NDArray[np.generic]], dict[str, object]]:
    """Arrays and plain values for the model file; those of the first member have the names of version 0.1, so that files stay exchangeable."""
    first = model.members[0]
    arrays: dict[str, npt.NDArray[np.generic]] = {"unit": first.whitening.deviation}
    if first.vectors is not None:
        arrays["step_vectors"] = first.vectors.astype(np.float16)
    if first.whitening.directions is not None:
        arrays["directions"] = first.whitening.directions
    for number, member in enumerate(model.members):
        arrays |= {f"{_prefix(number)}{name}": array for name, array in _arrays_of(member.parameters).items()}
    values: dict[str, object] = {
        "trained_tasks": [{"id": t.id, "title": t.title, "steps": list(t.steps)} for t in first.tasks],
        **sharing_to_values(first.sharing, WORDS_OF_CLASS, first.tasks),
        "windows_used": first.parameters.windows_used,
        "informativeness": first.parameters.informativeness,
        "n_videos": list(first.n_videos),
        **_values_of(first),
        "further_members": [_values_of(member) for member in model.members[1:]],
    }
    if first.text_side is not None:
        text_arrays, text_values = text_side_to_values(only_names_of(first.text_side, first.tasks))
        return arrays | text_arrays, values | text_values
    return arrays, values


def _prefix(member: int) -> str:
    """Before the names of a member's arrays."""
    return f"member.{member}." if member else ""


def _arrays_of(parameters: HmmParameters) -> dict[str, npt.NDArray[np.generic]]:
    arrays: dict[str, npt.NDArray[np.generic]] = {
        "coefficients": parameters.coefficients.astype(np.float32),
        "covariance": parameters.covariance.astype(np.float32),
    }
    for number, prior in enumerate(parameters.priors):
        arrays[f"habits.{number:04d}.position"] = prior.position.astype(np.float32)
        arrays[f"habits.{number:04d}.length"] = prior.duration.astype(np.float32)
        arrays[f"habits.{number:04d}.presence"] = prior.presence.astype(np.float32)
    return arrays


def _values_of(member: HmmScorer) -> dict[str, object]:
    return {
        "background_lengths": [prior.background_duration for prior in member.parameters.priors],
        "em_settings": asdict(member.settings),
        "meaning": member.vectors is not None,
    }


def hmm_from(arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]) -> HmmEnsemble:
    """The inverse of `to_arrays`; a file of an earlier version has one member."""
    try:
        tasks = tuple(Task(t["id"], t["title"], tuple(t["steps"])) for t in values["trained_tasks"])
        for text in (text for t in tasks for text in (t.id, t.title, *t.steps)):
            str.encode(text, "utf-8")  # a TypeError for anything but text, a ValueError for half of a character
        whitening = Whitening(arrays["unit"], arrays.get("directions"))
        windows_used = bool(values["windows_used"])
        n_videos = tuple(int(n) for n in values.get("n_videos", ()))
        vectors = arrays["step_vectors"].astype(np.float32) if "step_vectors" in arrays else None
        side = text_side_from(arrays, values)
        sharing = sharing_from_values(values, WORDS_OF_CLASS)
        members = []
        for number, of_member in enumerate([values, *values.get("further_members", [])]):
            own = {name: arrays[_prefix(number) + name] for name in _names_of_arrays(tasks)}
            parameters = _parameters_from(own, of_member, len(tasks), windows_used)
            settings = _settings_from(of_member.get("em_settings", {}))
            own_vectors = vectors if of_member.get("meaning", True) else None
            members.append(HmmScorer(whitening, parameters, tasks, sharing, settings, n_videos, own_vectors, side))
    except InputError:
        raise
    except (KeyError, TypeError, IndexError, ValueError, OverflowError, AttributeError) as error:
        raise InputError(f"model file: a part is missing ({error}); train it again") from None
    for member in members:
        _raise_if_impossible(member)
    return HmmEnsemble(tuple(members))


def _names_of_arrays(tasks: Sequence[Task]) -> list[str]:
    parts = [f"habits.{number:04d}.{part}" for number in range(len(tasks)) for part in ("position", "length", "presence")]
    return ["coefficients", "covariance", *parts]


def _parameters_from(
    arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any], n_tasks: int, windows_used: bool
) -> HmmParameters:
    priors = tuple(
        TaskPrior(
            arrays[f"habits.{i:04d}.position"].astype(np.float64),
            arrays[f"habits.{i:04d}.length"].astype(np.float64),
            float(values["background_lengths"][i]),
            arrays[f"habits.{i:04d}.presence"].astype(np.float64),
        )
        for i in range(n_tasks)
    )
    coefficients, covariance = arrays["coefficients"].astype(np.float64), arrays["covariance"].astype(np.float64)
    informativeness = values.get("informativeness")
    return HmmParameters(
        coefficients, covariance, priors, windows_used, None if informativeness is None else float(informativeness)
    )


def _raise_if_impossible(member: HmmScorer) -> None:
    """Raise an InputError if the arrays of a member do not fit each other, or could not have been trained."""
    parameters, tasks, vectors, width = member.parameters, member.tasks, member.vectors, member.whitening.width
    coefficients, covariance, priors = parameters.coefficients, parameters.covariance, parameters.priors
    fits = len(coefficients) == sum(len(t.steps) + 1 for t in tasks) and covariance.shape == (width, width)
    fits &= vectors is None or (vectors.ndim == 2 and len(vectors) == len(coefficients))
    if not fits or coefficients.ndim != 2 or coefficients.shape[1] != width:
        raise InputError("model file: its step lists do not fit its weights; train it again")
    if not all(0 < prior.background_duration < np.inf for prior in priors):
        raise InputError("model file: background duration must be positive and finite; train it again")
    if parameters.informativeness is not None and not 0 <= parameters.informativeness <= 1:
        raise InputError("model file: the informativeness of its features is not between 0 and 1; train it again")
    if not all(_is_possible(prior, len(t.steps)) for prior, t in zip(priors, tasks, strict=True)):
        raise InputError("model file: a prior of positions, durations or presence does not fit its step list; train it again")
    try:
        np.linalg.inv(covariance)
    except np.linalg.LinAlgError:
        raise InputError("model file: its covariance is singular; train it again") from None


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
