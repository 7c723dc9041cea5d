"""Feature rows (T, D) behind the `FeatureRows` protocol: `.npy` files, arrays in memory, or packed files."""

from crosstask.features.memory import FeaturesInMemory
from crosstask.features.npy_files import NpyFeatures, read_rows, read_shape, write_rows
from crosstask.features.npz_files import NpzFeatures
from crosstask.features.pack import open_packed, pack_features
from crosstask.features.pack_index import PackedFeatures
from crosstask.features.spec_file import find_feature_spec, read_feature_spec, refuse_other_spec, write_feature_spec
from crosstask.features.text_side_file import find_text_side, write_text_side

__all__ = [
    "FeaturesInMemory",
    "NpyFeatures",
    "NpzFeatures",
    "PackedFeatures",
    "find_feature_spec",
    "find_text_side",
    "open_packed",
    "pack_features",
    "read_feature_spec",
    "read_rows",
    "read_shape",
    "refuse_other_spec",
    "write_feature_spec",
    "write_rows",
    "write_text_side",
]
