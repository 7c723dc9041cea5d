import errno

import numpy as np
import pytest

from crosstask.storage import scratch, scratch_rows


def test_large_arrays_use_an_unlinked_file(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch, "IN_MEMORY_BYTES", 100)
    rows = scratch_rows(1000, 5, tmp_path)
    assert isinstance(rows, np.memmap)
    assert not list(tmp_path.iterdir())
    rows[:] = np.arange(5)
    assert rows.sum() == 10_000


def test_small_arrays_stay_in_memory(tmp_path):
    assert not isinstance(scratch_rows(1000, 5, tmp_path), np.memmap)


def test_full_disk_is_reported_at_allocation(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(scratch, "IN_MEMORY_BYTES", 100)
    monkeypatch.setattr(scratch.os, "posix_fallocate", full)
    with pytest.raises(OSError, match="no space for") as caught:
        scratch_rows(1000, 5, tmp_path)
    assert caught.value.errno == errno.ENOSPC
