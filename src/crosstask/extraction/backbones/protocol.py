"""What a backbone is: seconds in, one row a second out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from crosstask.extraction.second import Sampling, Second
from crosstask.records import InputError, MissingExtra

Rows = npt.NDArray[np.float32]


class Backbone(Protocol):
    """Describes seconds of video; a row depends on its own second alone, so groups of any length give the same rows."""

    @property
    def name(self) -> str:
        """Its name in `BACKBONES`."""
        ...

    @property
    def width(self) -> int:
        """Columns of a row."""
        ...

    @property
    def columns(self) -> str:
        """What the columns are, in a line."""
        ...

    @property
    def sampling(self) -> Sampling | None:
        """The pictures it wants of each second; None when it only listens."""
        ...

    def describe(self, seconds: Sequence[Second]) -> Rows:
        """(n, width), one row for each second."""
        ...


def need_torch(what: str) -> Any:
    """torch, or the extra to install."""
    try:
        import torch
    except ImportError:
        raise MissingExtra(f"backbone {what}", "video") from None
    return torch


def read_weights(path: Path, what: str) -> dict[str, Any]:
    """Tensors by name of a .safetensors or .pth file; nothing in it is ever run."""
    torch = need_torch(what)
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected the weights of {what} (.pth or .safetensors)")
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            tensors: Any = load_file(path)
        else:
            tensors = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # damaged or hostile files fail in many ways, and all mean the same
        raise InputError(f"{path}: not a file of weights ({type(error).__name__}); expected tensors of {what} by name") from None
    for outer in ("state_dict", "model"):
        if isinstance(tensors, dict) and isinstance(tensors.get(outer), dict):
            tensors = tensors[outer]
    if not isinstance(tensors, dict) or not all(isinstance(tensor, torch.Tensor) for tensor in tensors.values()):
        raise InputError(f"{path}: holds no tensors by name; expected the weights of {what}")
    return {name.removeprefix("module."): tensor for name, tensor in tensors.items()}


def fill(module: Any, tensors: dict[str, Any], path: Path, what: str, spare: tuple[str, ...] = ()) -> None:
    """Put weights into a module; a missing or misshapen one is refused by name, tensors that begin with `spare` may be left over."""
    wanted = module.state_dict()
    for name, tensor in wanted.items():
        if name.endswith("num_batches_tracked"):
            continue
        if name not in tensors:
            raise InputError(f"{path}: no '{name}'; expected the weights of {what}")
        if tensors[name].shape != tensor.shape:
            found, expected = tuple(tensors[name].shape), tuple(tensor.shape)
            raise InputError(f"{path}: '{name}' has shape {found}; {what} has {expected}")
    strangers = [name for name in tensors if name not in wanted and not name.startswith(spare or ("\0",))]
    if strangers:
        raise InputError(f"{path}: '{strangers[0]}' is no part of {what}; expected its weights alone")
    module.load_state_dict({name: tensors[name] for name in wanted if name in tensors}, strict=False)
    module.eval()


def stack_frames(seconds: Sequence[Second], sampling: Sampling) -> tuple[npt.NDArray[np.uint8], list[int]]:
    """All pictures of some seconds one after another (N, size, size, 3), and how many each second has."""
    counts = [len(second.pictures[sampling]) for second in seconds]
    return np.concatenate([second.pictures[sampling] for second in seconds]), counts


def group_means(rows: Rows, counts: Sequence[int]) -> Rows:
    """(N, d) -> (n, d): the mean of the first `counts[0]` rows, of the next `counts[1]`, and so on.

    >>> group_means(np.array([[1.0], [3.0], [5.0]], np.float32), [2, 1]).tolist()
    [[2.0], [5.0]]
    """
    ends = np.cumsum(counts)
    return np.stack([rows[end - count : end].mean(axis=0) for end, count in zip(ends, counts, strict=True)])
