"""Checkpoints of the paper's training: an interrupted training resumes after its last saved epoch and ends with the same bytes.

A checkpoint of another training is refused with the reason.
"""

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.learning.zhukov19.adam import AdamState
from crosstask.learning.zhukov19.alternation import AlternationSettings, Progress
from crosstask.methods.training_videos import TrainingArrays
from crosstask.records import InputError
from crosstask.storage import content_is_intact, require_regular, with_content_digest, write_bytes

log = logging.getLogger(__name__)
FORMAT = 4  # 4: the digest covers the description, the fingerprint all rows
_BLOCK_BYTES = 16 * 2**20  # rows hashed at a time
_DAMAGED = "not a checkpoint of crosstask, or damaged; delete it to start anew"


@dataclass
class Zhukov19Checkpoint:
    """Saves the progress of a training to `path`, at most every `every_s` seconds, and resumes from it."""

    path: Path
    every_s: float = 5.0
    last: Progress | None = None  # the latest progress, saved or not
    _description: Mapping[str, Any] = field(default_factory=dict)
    _saved_at: float = field(default_factory=monotonic)

    def resume(self, fresh: Progress, arrays: TrainingArrays, settings: AlternationSettings, sharing: str, seed: int) -> Progress:
        """The progress in the file if it belongs to this training; the fresh one when there is no file."""
        self._description = {
            "format": FORMAT,
            "settings": {"method": "zhukov19"} | asdict(settings) | {"sharing": sharing, "seed": seed},
            "data": fingerprint(arrays),
        }
        if not self.path.exists():
            return fresh
        arrays_kept, kept = read_kept(self.path)
        refuse_another(self.path, kept, self._description)
        found = _progress_from(self.path, arrays_kept, kept)
        if _shapes(found) != _shapes(fresh) or not _is_sound(found, arrays, settings):
            raise InputError(f"{self.path}: damaged: its arrays do not fit this training; delete it to start anew")
        log.warning("resumed at epoch %d", found.epochs_done)
        self.last = found
        return found

    def save(self, progress: Progress) -> None:
        """Write the progress, unless one was written less than `every_s` ago."""
        self.last = progress
        if monotonic() - self._saved_at >= self.every_s:
            write_bytes(self.path, kept_bytes(_arrays_of(progress), {**self._description, "epochs_done": progress.epochs_done}))
            self._saved_at = monotonic()


def refuse_another(path: Path, kept: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Say how a checkpoint differs from the current training."""
    way_out = "finish that training with its own options, or delete the file to start anew"
    if kept.get("format") != wanted["format"]:
        raise InputError(f"{path}: checkpoint format {kept.get('format')}; this version reads {wanted['format']}: {way_out}")
    for name, value in wanted["settings"].items():
        if kept["settings"].get(name) != value:
            raise InputError(f"{path}: a checkpoint made with {name} = {kept['settings'].get(name)}, not {value}: {way_out}")
    if kept.get("data") != wanted["data"]:
        raise InputError(f"{path}: a checkpoint of other videos, features or windows: {way_out}")


def fingerprint(arrays: TrainingArrays) -> str:
    """A digest of everything that is learnt from; packed rows enter by the checksums in the index of their pack."""
    digest = hashlib.sha256("\n".join(map(str, arrays.keys)).encode())
    for part in (*arrays.videos, *arrays.tasks):
        digest.update(np.ascontiguousarray(part).tobytes())
    digest.update(f"{arrays.rows.shape} {arrays.rows.dtype}".encode())
    if arrays.checksums is not None:
        digest.update(repr(sorted(arrays.checksums.items())).encode())
    else:
        update_with_rows(digest, arrays.rows)
    return digest.hexdigest()


def update_with_rows(digest: "hashlib._Hash", rows: npt.NDArray[np.floating]) -> None:
    """Add all rows (R, D) to a digest, in blocks, so that mapped rows are never all in memory."""
    n_rows = max(1, _BLOCK_BYTES // max(1, rows[:1].nbytes))
    for first in range(0, len(rows), n_rows):
        digest.update(np.ascontiguousarray(rows[first : first + n_rows]).data)


def _shapes(progress: Progress) -> list[object]:
    """Shape and type of every array that training goes on with."""
    return [(array.shape, array.dtype) for array in (progress.parameters, progress.labels, *progress.adam)]


def _is_sound(progress: Progress, arrays: TrainingArrays, settings: AlternationSettings) -> bool:
    """Whether every number that leads the kernels to a place in memory, or through a loop, can be true."""
    videos, adam = arrays.videos, progress.adam
    n_places = np.repeat(np.diff(videos.first_active), np.diff(videos.first_label))
    most_steps = progress.epochs_done * max(len(videos.active), len(progress.labels))
    return bool(
        0 <= progress.epochs_done == len(progress.losses) <= settings.initial_epochs + settings.epochs
        and (progress.labels >= -1).all()
        and (progress.labels < n_places).all()
        and 0 <= adam.taken[0] <= most_steps
        and (adam.current >= 0).all()
        and (adam.current <= adam.taken[0]).all()
        and np.isfinite(progress.parameters).all()
    )


def _arrays_of(progress: Progress) -> dict[str, npt.NDArray[np.generic]]:
    return {
        "parameters": progress.parameters,
        "labels": progress.labels,
        "losses": np.array(progress.losses, dtype=np.float64),
        **{f"adam_{name}": value for name, value in progress.adam._asdict().items()},
    }


def _progress_from(path: Path, arrays: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> Progress:
    try:
        adam = AdamState(*(arrays[f"adam_{name}"].copy() for name in AdamState._fields))
        losses = tuple(float(loss) for loss in arrays["losses"])
        return Progress(arrays["parameters"].copy(), adam, arrays["labels"].copy(), int(about["epochs_done"]), losses)
    except (ValueError, KeyError, TypeError, OverflowError):
        raise InputError(f"{path}: {_DAMAGED}") from None


def kept_bytes(arrays: dict[str, npt.NDArray[np.generic]], about: Mapping[str, Any]) -> bytes:
    """Arrays and what they belong to as one safetensors file with a digest of both."""
    from safetensors.numpy import save

    return bytes(save(arrays, {"crosstask": json.dumps(with_content_digest(about, arrays), sort_keys=True)}))


def read_kept(path: Path) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """The inverse of `kept_bytes`; anything else is refused."""
    from safetensors import SafetensorError, safe_open

    is_model = False
    try:
        with safe_open(require_regular(path), framework="numpy") as file:
            description = json.loads(file.metadata()["crosstask"])
            is_model = "trained_on" in description
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dictionary
        if is_model or not isinstance(description["settings"], dict):
            raise TypeError
        if description["format"] == FORMAT and not ("content_digest" in description and content_is_intact(description, arrays)):
            raise ValueError
        return arrays, description
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        if is_model:
            raise InputError(
                f"{path}: a trained model, and no checkpoint; expected a new name, or an interrupted training"
            ) from None
        raise InputError(f"{path}: {_DAMAGED}") from None
