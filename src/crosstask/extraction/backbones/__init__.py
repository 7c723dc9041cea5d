"""Backbones: seconds of video to feature rows. One file per backbone."""

from collections.abc import Callable, Mapping
from pathlib import Path

from crosstask.extraction.backbones.clip import Clip
from crosstask.extraction.backbones.efficientnet_lite0 import EfficientNetLite0
from crosstask.extraction.backbones.frozen import Frozen
from crosstask.extraction.backbones.i3d import I3D
from crosstask.extraction.backbones.light import Light
from crosstask.extraction.backbones.log_mel import LogMel
from crosstask.extraction.backbones.protocol import Backbone, Rows
from crosstask.extraction.backbones.resnet152 import ResNet152
from crosstask.extraction.backbones.vggish import VGGish

__all__ = ["BACKBONES", "NEED_WEIGHTS", "WITHOUT_TORCH", "Backbone", "Rows"]

# Name -> (weights, use every Nth frame) -> backbone. Weights are loaded at the first call of `extract`.
BACKBONES: Mapping[str, Callable[[Path | None, int], Backbone]] = {
    "clip": lambda weights, every: Clip(weights),
    "efficientnet-lite0": lambda weights, every: EfficientNetLite0(weights),
    "light": lambda weights, every: Light(),
    "log-mel": lambda weights, every: LogMel(),
    "i3d": lambda weights, every: I3D(weights),
    "resnet152": ResNet152,
    "vggish": lambda weights, every: VGGish(weights),
    "frozen": lambda weights, every: Frozen(weights),
}
NEED_WEIGHTS = ("resnet152", "vggish", "frozen", "clip")
WITHOUT_TORCH = ("light", "log-mel")
