"""ResNet-152 (He et al. 2016), the appearance features of the paper, averaged over all frames of the second. The user provides the weights."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.extraction.backbones.protocol import Rows, group_means, load_into, need_torch, read_weights, stack_frames
from crosstask.extraction.second import Sampling, Second
from crosstask.records import InputError

BLOCKS = (3, 8, 36, 3)  # bottleneck blocks per layer
_BATCH = 8
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, expected by the published weights


class ResNet152:
    """2048 columns: pooled last feature map, averaged over the frames of the second."""

    name = "resnet152"
    width = 2048

    def __init__(self, weights: Path | None = None, every: int = 1) -> None:
        self.weights = weights
        self.sampling = Sampling(224, None, every)
        which = "every frame" if every == 1 else f"every {every}th frame (deviation)"
        self.columns = f"ResNet-152 (ImageNet), pooled last feature map, mean over {which} of the second"

    @cached_property
    def _network(self) -> Any:
        if self.weights is None:
            raise InputError("resnet152: no weights given; expected --weights resnet152=FILE (torchvision's resnet152 .pth)")
        network = resnet(BLOCKS)
        load_into(network, read_weights(self.weights, self.name), self.weights, self.name, ignored_prefixes=("fc.",))
        return network

    def extract(self, seconds: Sequence[Second]) -> Rows:
        """(n, 2048)."""
        torch = need_torch(self.name)
        network = self._network
        mean, deviation = torch.tensor(_MEAN)[:, None, None], torch.tensor(_DEVIATION)[:, None, None]
        frames, counts = stack_frames(seconds, self.sampling)
        rows = []
        with torch.inference_mode():
            for first in range(0, len(frames), _BATCH):
                batch = torch.from_numpy(frames[first : first + _BATCH]).permute(0, 3, 1, 2).float() / 255
                rows.append(network((batch - mean) / deviation).numpy())
        return group_means(np.concatenate(rows), counts)


def resnet(blocks: Sequence[int]) -> Any:
    """A bottleneck residual network up to its pooled last map, (N, 3, H, W) -> (N, 2048), with weights named as in torchvision."""
    torch = need_torch("resnet152")
    nn = torch.nn

    class Bottleneck(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, n_in: int, n_middle: int, stride: int) -> None:
            super().__init__()
            n_out = 4 * n_middle
            self.conv1 = nn.Conv2d(n_in, n_middle, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(n_middle)
            self.conv2 = nn.Conv2d(n_middle, n_middle, 3, stride, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(n_middle)
            self.conv3 = nn.Conv2d(n_middle, n_out, 1, bias=False)
            self.bn3 = nn.BatchNorm2d(n_out)
            shortcut = [nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out)]
            self.downsample = nn.Sequential(*shortcut) if stride != 1 or n_in != n_out else None

        def forward(self, x: Any) -> Any:
            inner = torch.relu(self.bn1(self.conv1(x)))
            inner = torch.relu(self.bn2(self.conv2(inner)))
            inner = self.bn3(self.conv3(inner))
            return torch.relu(inner + (x if self.downsample is None else self.downsample(x)))

    class Trunk(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
            self.bn1 = nn.BatchNorm2d(64)
            self.pool = nn.MaxPool2d(3, 2, 1)
            n_in = 64
            for number, count in enumerate(blocks):
                n_middle, stride = 64 << number, 1 if number == 0 else 2
                stack = [Bottleneck(n_in if i == 0 else 4 * n_middle, n_middle, stride if i == 0 else 1) for i in range(count)]
                self.add_module(f"layer{number + 1}", nn.Sequential(*stack))
                n_in = 4 * n_middle

        def forward(self, x: Any) -> Any:
            x = self.pool(torch.relu(self.bn1(self.conv1(x))))
            for number in range(len(blocks)):
                x = getattr(self, f"layer{number + 1}")(x)
            return x.mean((2, 3))

    return Trunk()
