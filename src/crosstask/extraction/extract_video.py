"""The features of one video file, decoded once for all backbones of a feature spec."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from crosstask.extraction.backbones import Rows
from crosstask.extraction.decode import decode_seconds
from crosstask.extraction.feature_spec import FeatureSpec, load_backbones
from crosstask.extraction.second import Second
from crosstask.records import InputError

_SECONDS_AT_ONCE = 8  # ours: bounds memory; constant, because batched arithmetic may round differently for other batch sizes


def extract_video(path: Path, spec: FeatureSpec) -> Rows:
    """(T, D) float32, one row per second, the columns of all backbones concatenated."""
    backbones = load_backbones(spec)
    samplings = sorted({backbone.sampling for backbone in backbones if backbone.sampling is not None}, key=str)
    rows = [
        np.concatenate([backbone.extract(group) for backbone in backbones], axis=1)
        for group in _groups(decode_seconds(path, samplings))
    ]
    features = np.concatenate(rows)
    if not np.isfinite(features).all():
        raise InputError(f"{path.name}: its features hold NaN or infinity; check the weights of {spec}")
    return features


def _groups(seconds: Iterable[Second]) -> Iterator[list[Second]]:
    rest = iter(seconds)
    while group := list(islice(rest, _SECONDS_AT_ONCE)):
        yield group
