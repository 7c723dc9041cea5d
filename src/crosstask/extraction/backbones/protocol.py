"""The interface of backbones, and what they share: weight files and batches of frames."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from crosstask.extraction.second import Sampling, Second
from crosstask.records import InputError, MissingExtra

Rows = npt.NDArray[np.float32]


class Backbone(Protocol):
    """Maps seconds of video to feature rows; a row depends only on its own second, so batches of any size give the same rows."""

    @property
    def name(self) -> str:
        """Its name in `BACKBONES`."""
        ...

    @property
    def width(self) -> int:
        """Number of columns."""
        ...

    @property
    def columns(self) -> str:
        """One line that explains the columns."""
        ...

    @property
    def sampling(self) -> Sampling | None:
        """The frames it needs of each second; None if it only uses audio."""
        ...

    def extract(self, seconds: Sequence[Second]) -> Rows:
        """(n, width), one row for each second."""
        ...


def need_torch(what: str) -> Any:
    """The module `torch`, or an error that names the extra to install."""
    try:
        import torch
    except ImportError:
        raise MissingExtra(f"backbone {what}", "deep") from None
    return torch


def read_weights(path: Path, what: str) -> dict[str, Any]:
    """Name -> tensor of a .safetensors or .pth file; no code in the file is executed."""
    torch = need_torch(what)
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected the weights of {what} (.pth or .safetensors)")
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            tensors: Any = load_file(path)
        else:
            tensors = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # damaged or hostile files raise many kinds of errors
        raise InputError(f"{path}: not a file of weights ({type(error).__name__}); expected tensors of {what} by name") from None
    for outer in ("state_dict", "model"):
        if isinstance(tensors, dict) and isinstance(tensors.get(outer), dict):
            tensors = tensors[outer]
    if not isinstance(tensors, dict) or not all(isinstance(tensor, torch.Tensor) for tensor in tensors.values()):
        raise InputError(f"{path}: holds no tensors by name; expected the weights of {what}")
    return {name.removeprefix("module."): tensor for name, tensor in tensors.items()}


def load_into(module: Any, tensors: dict[str, Any], path: Path, what: str, ignored_prefixes: tuple[str, ...] = ()) -> None:
    """Load weights into a module; a missing, misshapen or unexpected tensor is an error, except those that start with `ignored_prefixes`."""
    expected_state = module.state_dict()
    for name, tensor in expected_state.items():
        if name.endswith("num_batches_tracked"):
            continue
        if name not in tensors:
            raise InputError(f"{path}: no '{name}'; expected the weights of {what}")
        if tensors[name].shape != tensor.shape:
            found, expected = tuple(tensors[name].shape), tuple(tensor.shape)
            raise InputError(f"{path}: '{name}' has shape {found}; {what} has {expected}")
    unexpected = [name for name in tensors if name not in expected_state and not name.startswith(ignored_prefixes or ("\0",))]
    if unexpected:
        raise InputError(f"{path}: '{unexpected[0]}' is not part of {what}; expected only its weights")
    module.load_state_dict({name: tensors[name] for name in expected_state if name in tensors}, strict=False)
    module.eval()


def stack_frames(seconds: Sequence[Second], sampling: Sampling) -> tuple[npt.NDArray[np.uint8], list[int]]:
    """(N, size, size, 3) frames of some seconds, concatenated, and the number of frames of each second."""
    counts = [len(second.frames[sampling]) for second in seconds]
    return np.concatenate([second.frames[sampling] for second in seconds]), counts


def group_means(rows: Rows, counts: Sequence[int]) -> Rows:
    """(n, d) means of consecutive groups of the (N, d) rows; group i has `counts[i]` rows.

    >>> group_means(np.array([[1.0], [3.0], [5.0]], np.float32), [2, 1]).tolist()
    [[2.0], [5.0]]
    """
    ends = np.cumsum(counts)
    return np.stack([rows[end - count : end].mean(axis=0) for end, count in zip(ends, counts, strict=True)])
