import ast
import io

import numpy as np
import pytest

from crosstask.storage import NotAnArray, load_array, map_array, read_header

ARRAYS = {
    "rows": np.arange(6.0).reshape(2, 3),
    "big-endian columns": np.asfortranarray(np.arange(6, dtype=">f4").reshape(2, 3)),
    "halves": np.arange(5, dtype=np.float16),
    "a number": np.float32(3),
    "no rows": np.zeros((0, 4)),
    "truth": np.array([[True], [False]]),
    "text": np.array(["ab", "c"]),
    "named columns": np.array([(1.5, 2)], dtype=[("a", "<f4"), ("b", "<i2")]),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("read", [load_array, map_array])
def test_arrays_come_back_as_numpy_wrote_them(name, read, tmp_path):
    np.save(tmp_path / "a.npy", ARRAYS[name])
    found, expected = read(tmp_path / "a.npy"), np.asarray(ARRAYS[name])
    assert found.dtype == expected.dtype and found.shape == expected.shape and np.array_equal(found, expected)
    assert found.flags.f_contiguous == expected.flags.f_contiguous


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_the_format_is_read(version, tmp_path):
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array(file, ARRAYS["rows"], version)
    assert np.array_equal(load_array(tmp_path / "a.npy"), ARRAYS["rows"])


def test_the_parser_of_python_which_may_fail_where_threads_use_it_is_not_needed(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", ARRAYS["rows"])

    def fail(text):
        raise SystemError("AST constructor recursion depth mismatch (before=18, after=15)")

    monkeypatch.setattr(ast, "literal_eval", fail)
    assert np.array_equal(load_array(tmp_path / "a.npy"), ARRAYS["rows"])
    assert np.array_equal(map_array(tmp_path / "a.npy"), ARRAYS["rows"])


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }",
        "{'descr': '<q9', 'fortran_order': False, 'shape': (2, 3), }",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3), }",
        f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({'9' * 5000},), }}",
        "{'descr': '<f4', 'shape': (2, 3), }",
        "__import__('os').abort()",
    ],
)
def test_other_headers_are_refused(header, tmp_path):
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(24))
    with pytest.raises(NotAnArray):
        load_array(tmp_path / "a.npy")


def test_a_header_that_is_cut_short_is_refused():
    with pytest.raises(NotAnArray, match="not a NumPy array"):
        read_header(io.BytesIO(b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'for"))
