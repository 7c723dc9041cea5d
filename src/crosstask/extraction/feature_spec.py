"""A feature recipe: which backbones make which columns, in a line that a person can type again.

efficientnet-lite0,log-mel            what `--features default` stands for
i3d,resnet152/4#0d5f2a91,vggish#...   /4: every 4th frame; #...: sha256 of weights the user brought
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from crosstask.extraction.backbones import BACKBONES, NEED_WEIGHTS, Backbone
from crosstask.records import InputError

SHORTHANDS = {"default": "efficientnet-lite0,log-mel", "paper": "i3d,resnet152,vggish"}
SPEECH = "speech"  # made from subtitles, not by a backbone
_PART = re.compile(r"(?P<name>[a-z0-9-]+)(/(?P<every>\d+))?(#(?P<digest>[0-9a-f]{8}))?")


@dataclass(frozen=True)
class Part:
    """One backbone of a recipe."""

    name: str
    every: int = 1
    weights: str = ""  # path, where the user brought his own
    digest: str = ""

    def __str__(self) -> str:
        """As it is typed."""
        return self.name + (f"/{self.every}" if self.every > 1 else "") + (f"#{self.digest}" if self.digest else "")


@dataclass(frozen=True)
class FeatureSpec:
    """Backbones in the order of their columns, and whether speech follows them."""

    parts: tuple[Part, ...]
    speech: bool = False

    def __str__(self) -> str:
        """The line that is kept beside the features and in models."""
        return ",".join([*map(str, self.parts), *([SPEECH] if self.speech else [])])


def parse_feature_spec(text: str, weights: Mapping[str, Path] | None = None, every: int = 1) -> FeatureSpec:
    """The recipe a person asks for.

    >>> str(parse_feature_spec("default"))
    'efficientnet-lite0,log-mel'
    """
    weights = weights or {}
    names = [name.strip() for asked in text.split(",") for name in SHORTHANDS.get(asked.strip(), asked.strip()).split(",")]
    parts = [_part(name, weights, every) for name in names if name != SPEECH]
    if len({part.name for part in parts}) < len(parts) or names.count(SPEECH) > 1:
        raise InputError(f"--features {text}: a backbone stands twice; expected each once")
    strangers = sorted(set(weights) - {part.name for part in parts})
    if strangers:
        raise InputError(f"--weights {strangers[0]}=...: --features {text} does not use {strangers[0]}")
    if SPEECH in names[:-1]:
        raise InputError(f"--features {text}: speech comes last")
    return FeatureSpec(tuple(parts), SPEECH in names)


def _part(text: str, weights: Mapping[str, Path], every: int) -> Part:
    found = _PART.fullmatch(text)
    if not found or found["name"] not in BACKBONES:
        known = ", ".join([*SHORTHANDS, *BACKBONES, SPEECH])
        raise InputError(f"--features {text}: unknown; expected {known}, or several with commas")
    name = found["name"]
    if name in NEED_WEIGHTS and name not in weights:
        raise InputError(f"{name}: its weights come in no package; expected --weights {name}=PATH")
    path = weights.get(name)
    digest = weights_digest(path) if path else ""
    if found["digest"] and found["digest"] != digest:
        raise InputError(f"--features {text}: the weights given have digest {digest or '(none given)'}; expected those of {text}")
    own_every = int(found["every"] or every) if name == "resnet152" else 1
    if own_every < 1:
        raise InputError(f"--every {own_every}: expected 1 or more")
    return Part(name, own_every, str(path) if path else "", digest)


@cache
def weights_digest(path: Path) -> str:
    """Eight digits of the sha256 of a file, or of the files of a folder."""
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
    """The backbones of a recipe, loaded once a process."""
    return tuple(BACKBONES[part.name](Path(part.weights) if part.weights else None, part.every) for part in spec.parts)


def columns_text(spec: FeatureSpec) -> str:
    """Which columns are what, a line each.

    >>> print(columns_text(parse_feature_spec("log-mel")))
    0-127 log-mel: mean, then deviation, of 64 log-mel bands (125-7500 Hz) over the second
    """
    lines, first = [], 0
    for part, backbone in zip(spec.parts, load_backbones(spec), strict=True):
        lines.append(f"{first}-{first + backbone.width - 1} {part}: {backbone.columns}")
        first += backbone.width
    if spec.speech:
        lines.append(f"{first}- speech: vector of what is being said, then of the words around it")
    return "\n".join(lines)
