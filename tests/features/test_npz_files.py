import numpy as np
import pytest

from crosstask.features import NpzFeatures
from crosstask.records import InputError


def test_shape_and_rows(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", np.ones((4, 3), np.float16))
    features = NpzFeatures({"a": tmp_path / "a.npz"})
    assert "a" in features and "b" not in features and features.length("a") == 4
    rows, first = features.stack(["a"])
    assert rows.shape == (4, 3) and first == {"a": 0}


@pytest.mark.parametrize("array", [np.ones(3), np.ones((2, 2), int), np.array([["x", {}]], dtype=object)])
def test_other_arrays_are_refused(tmp_path, array):
    np.savez(tmp_path / "a.npz", array)
    with pytest.raises(InputError, match=r"a\.npz"):
        NpzFeatures({"a": tmp_path / "a.npz"}).rows("a")


def test_a_video_without_a_file_is_named():
    with pytest.raises(InputError, match="video b: no features"):
        NpzFeatures({}).rows("b")
