"""VGGish (Hershey et al. 2017), the audio features of the paper: 0.96 s of log-mel through a small VGG. The user provides the weights.

Weights are named as in the common torch port: features.N.weight, embeddings.N.weight.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.extraction.backbones.protocol import Rows, load_into, need_torch, read_weights
from crosstask.extraction.mel import log_mel
from crosstask.extraction.second import Second
from crosstask.records import InputError

N_WINDOWS = 96  # of 10 ms: the input of VGGish is 0.96 s long
_CHANNELS = (64, 0, 128, 0, 256, 256, 0, 512, 512, 0)  # 0: max pooling by 2


class VGGish:
    """128 columns: the embedding of the first 0.96 s of the second."""

    name = "vggish"
    width = 128
    columns = "VGGish (AudioSet) embedding of the first 0.96 s of the second, before any PCA"
    sampling = None

    def __init__(self, weights: Path | None = None) -> None:
        self.weights = weights

    @cached_property
    def _network(self) -> Any:
        if self.weights is None:
            raise InputError("vggish: no weights given; expected --weights vggish=FILE (.pth with features.* and embeddings.*)")
        network = vgg()
        load_into(network, read_weights(self.weights, self.name), self.weights, self.name, ignored_prefixes=("pproc.",))
        return network

    def extract(self, seconds: Sequence[Second]) -> Rows:
        """(n, 128)."""
        torch = need_torch(self.name)
        patches = np.stack([log_mel(second.audio)[:N_WINDOWS] for second in seconds])  # (n, 96, 64)
        with torch.inference_mode():
            return np.asarray(self._network(torch.from_numpy(patches)[:, None]).numpy(), np.float32)


def vgg() -> Any:
    """The VGGish network, (N, 1, 96, 64) -> (N, 128), with random weights."""
    torch = need_torch("vggish")
    nn = torch.nn

    class Network(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            layers: list[Any] = []
            n_in = 1
            for n_out in _CHANNELS:
                layers += [nn.Conv2d(n_in, n_out, 3, padding=1), nn.ReLU()] if n_out else [nn.MaxPool2d(2)]
                n_in = n_out or n_in
            self.features = nn.Sequential(*layers)
            dense = [nn.Linear(512 * 6 * 4, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 128), nn.ReLU()]
            self.embeddings = nn.Sequential(*dense)

        def forward(self, x: Any) -> Any:
            maps = self.features(x).permute(0, 2, 3, 1)  # time, band, channel: the order in TensorFlow
            return self.embeddings(maps.flatten(1))

    return Network()
