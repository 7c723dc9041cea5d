"""The features of one video file, decoded once for all backbones of a feature spec."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from crosstask.extraction.backbones import WITHOUT_TORCH
from crosstask.extraction.backbones.protocol import Backbone, Rows, need_torch
from crosstask.extraction.decode import decode_seconds
from crosstask.extraction.feature_spec import FeatureSpec, load_backbones
from crosstask.extraction.second import Second
from crosstask.records import InputError
from crosstask.storage import single_thread

_SECONDS_AT_ONCE = 8  # ours: bounds memory; constant, because batched arithmetic may round differently for other batch sizes


def extract_video(path: Path, spec: FeatureSpec) -> Rows:
    """(T, D) float32, one row per second, the columns of all backbones concatenated; computed by one thread, so equal on any number of cores."""
    backbones = load_backbones(spec)
    for backbone in backbones:
        if backbone.name not in WITHOUT_TORCH:
            need_torch(backbone.name)  # imported before its threads are limited
    with single_thread():
        features = _features(path, backbones)
    if not np.isfinite(features).all():
        raise InputError(f"{path.name}: its features hold NaN or infinity; check the weights of {spec}")
    return features


def _features(path: Path, backbones: Sequence[Backbone]) -> Rows:
    samplings = sorted({backbone.sampling for backbone in backbones if backbone.sampling is not None}, key=str)
    seconds_at_once = max(getattr(backbone, "seconds_at_once", _SECONDS_AT_ONCE) for backbone in backbones)
    rows = [
        np.concatenate([backbone.extract(group) for backbone in backbones], axis=1)
        for group in _groups(decode_seconds(path, samplings), seconds_at_once)
    ]
    return np.concatenate(rows)


def _groups(seconds: Iterable[Second], size: int) -> Iterator[list[Second]]:
    rest = iter(seconds)
    while group := list(islice(rest, size)):
        yield group
