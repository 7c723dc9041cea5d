import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

from crosstask.features import NpyFeatures, read_rows, write_rows
from crosstask.records import InputError


def test_write_and_read_round_trip(tmp_path):
    rows = np.arange(12, dtype=np.float16).reshape(4, 3)
    write_rows(tmp_path / "-a.npy", rows)
    features = NpyFeatures(tmp_path)
    assert "-a" in features and features.length("-a") == 4 and list(features) == ["-a"]
    assert np.array_equal(features.rows("-a"), rows)


def test_a_full_disk_is_named_with_its_file(tmp_path):
    """NumPy's own writer leaves both out."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(OSError, match="File too large") as error:
            write_rows(tmp_path / "a.npy", np.zeros((100, 100), np.float32))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert error.value.filename == str(tmp_path / "a.npy") and not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8"])
def test_any_floating_point_and_byte_order(tmp_path, dtype):
    rows = np.arange(6).reshape(3, 2).astype(dtype)
    np.save(tmp_path / "a.npy", np.asfortranarray(rows))
    read = read_rows(tmp_path / "a.npy")
    assert read.dtype.isnative and np.array_equal(read, rows)


def write_invalid_files(folder):
    good = np.ones((50, 4), np.float32)
    np.save(folder / "truncated.npy", good)
    (folder / "truncated.npy").write_bytes((folder / "truncated.npy").read_bytes()[:-20])
    np.save(folder / "longer.npy", good)
    (folder / "longer.npy").write_bytes(
        (folder / "longer.npy").read_bytes().replace(b"(50,", b"(48,")
    )  # one bit: the last rows would go
    np.save(folder / "objects.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    np.save(folder / "integers.npy", np.ones((3, 3), int))
    np.save(folder / "flat.npy", np.ones(9))
    np.save(folder / "empty.npy", np.ones((0, 9)))
    (folder / "text.npy").write_text("hello")
    (folder / "nothing.npy").write_bytes(b"")
    with (folder / "huge.npy").open("wb") as file:  # a header that claims 10^9 rows, with 16 bytes of data
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (10**9, 3200)})
        file.write(b"\0" * 16)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("truncated", "truncated: .* bytes where its header says"),
        ("longer", "damaged: .* bytes where its header says"),
        ("objects", "expected floating point"),
        ("integers", "expected floating point"),
        ("flat", r"expected \(T, D\)"),
        ("empty", "has no rows"),
        ("text", "not a NumPy array"),
        ("nothing", "not a NumPy array"),
        ("huge", "truncated"),
        ("absent", "cannot be read"),
    ],
)
def test_invalid_files_are_rejected_by_name(tmp_path, name, message):
    write_invalid_files(tmp_path)
    with pytest.raises(InputError, match=f"{name}.npy: .*{message}"):
        read_rows(tmp_path / f"{name}.npy")


def test_id_cannot_escape_the_folder(tmp_path):
    with pytest.raises(InputError, match="cannot name a file"):
        NpyFeatures(tmp_path).rows("../secret")


SHRINKING = """
import os, sys
from pathlib import Path
import numpy as np
from crosstask.features import NpyFeatures, read_rows, write_rows
for read in (read_rows, lambda path: NpyFeatures(path.parent).rows(path.stem)):
    path = write_rows(Path(sys.argv[1]) / "a.npy", np.ones((4000, 64), np.float32))
    rows = read(path)
    os.truncate(path, 0)
    assert rows.sum() == 4000 * 64
"""


def test_a_file_that_shrinks_after_it_was_read_does_not_end_the_process(tmp_path):
    done = subprocess.run([sys.executable, "-c", SHRINKING, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_a_file_that_is_replaced_by_one_of_another_length_is_an_error(tmp_path):
    write_rows(tmp_path / "a.npy", np.ones((4, 3), np.float32))
    features = NpyFeatures(tmp_path)
    assert features.length("a") == 4
    write_rows(tmp_path / "a.npy", np.ones((5, 3), np.float32))
    with pytest.raises(InputError, match=r"a\.npy: has 5 rows, had 4: changed while it was used"):
        features.rows("a")
    assert len(features.rows("a")) == features.length("a") == 5
