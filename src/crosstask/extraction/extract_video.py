"""A video file -> its feature rows, decoded once for all backbones of a recipe."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from crosstask.extraction.backbones import Rows
from crosstask.extraction.decode import decode_seconds
from crosstask.extraction.feature_spec import FeatureSpec, load_backbones
from crosstask.extraction.second import Second
from crosstask.records import InputError

_GROUP = 8  # seconds described at a time: bounds memory, and is always the same, so that rows are


def extract_video(path: Path, spec: FeatureSpec) -> Rows:
    """(T, D) float32, one row a second, the columns of the backbones side by side."""
    backbones = load_backbones(spec)
    samplings = sorted({backbone.sampling for backbone in backbones if backbone.sampling is not None}, key=str)
    rows = [
        np.concatenate([backbone.describe(group) for backbone in backbones], axis=1)
        for group in _groups(decode_seconds(path, samplings))
    ]
    described = np.concatenate(rows)
    if not np.isfinite(described).all():
        raise InputError(f"{path.name}: its description holds NaN or infinity; check the weights of {spec}")
    return described


def _groups(seconds: Iterable[Second]) -> Iterator[list[Second]]:
    rest = iter(seconds)
    while group := list(islice(rest, _GROUP)):
        yield group
