"""Rows of features behind one protocol: loose files, in memory, packed."""

from crosstask.features.memory import FeaturesInMemory
from crosstask.features.npy_files import NpyFeatures, read_rows, read_shape, write_rows
from crosstask.features.pack import PackedFeatures, open_packed, pack_features

__all__ = [
    "FeaturesInMemory",
    "NpyFeatures",
    "PackedFeatures",
    "open_packed",
    "pack_features",
    "read_rows",
    "read_shape",
    "write_rows",
]
