import io
import zipfile

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


def test_a_size_that_no_compression_explains_is_refused_before_anything_is_allocated(tmp_path):
    path = tmp_path / "a.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (10**9, 3)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        archive.writestr("arr_0.npy", header.getvalue() + bytes(48))
        entry = archive.getinfo("arr_0.npy")
        entry.file_size = len(header.getvalue()) + 4 * 3 * 10**9
    for read in (NpzFeatures({"a": path}).length, NpzFeatures({"a": path}).rows):
        with pytest.raises(InputError, match=r"a\.npz: claims 12,000,000,\d+ bytes, more than \d+ compressed ones can hold"):
            read("a")
