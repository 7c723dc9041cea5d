"""Files of compiled kernels that are cut short or overwritten, as by a power cut: Numba neither flushes nor checks them."""

import errno
import importlib.util
import os
from pathlib import Path

import pytest
from numba.core.caching import IndexDataCacheFile

KERNEL = """
from crosstask.inference.compiled import compiled

@compiled
def doubled(x):
    return 2 * x
"""


@pytest.fixture
def load(tmp_path):
    """A function that returns the kernel of a new file as a new process would see it."""
    (tmp_path / "kernel.py").write_text(KERNEL)

    def load():
        spec = importlib.util.spec_from_file_location("kernel", tmp_path / "kernel.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.doubled

    return load


def files(kernel, ending):
    return sorted(Path(kernel.stats.cache_path).glob(f"kernel.*{ending}"))


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("content", [b"", b"\x80", bytes(5000), b"no pickle"])
def test_damaged_files_of_a_kernel_are_made_again(load, ending, content):
    kernel = load()
    assert kernel(21) == 42
    (path,) = files(kernel, ending)
    path.write_bytes(content)
    for hits in (0, 1):
        kernel = load()
        assert kernel(21) == 42 and sum(kernel.stats.cache_hits.values()) == hits


def test_a_kernel_works_where_the_disk_of_its_files_is_full(load, monkeypatch):
    def full(files, key, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    assert load()(21) == 42


def test_a_kernel_cut_at_any_place_is_compiled_again(load):
    kernel = load()
    kernel(21)
    for path in files(kernel, ".nbi") + files(kernel, ".nbc"):
        whole = path.read_bytes()
        for length in range(0, len(whole), len(whole) // 6):
            path.write_bytes(whole[:length])
            assert load()(21) == 42
