"""Temporary arrays for one computation: in memory up to 256 MiB, above that in an unlinked temporary file.

The file is unlinked as soon as it is open, so nothing remains however the process ends. Its disk space is allocated at once, so a full
disk is reported as an error before the computation starts instead of crashing it.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

IN_MEMORY_BYTES = 256 * 2**20  # ours: small against the memory of a laptop, large enough for most corpora


def scratch_rows(n_rows: int, width: int, folder: Path | None = None) -> npt.NDArray[np.float32]:
    """(n_rows, width) writable zeros; above 256 MiB they are backed by an unlinked temporary file in `folder`.

    >>> scratch_rows(3, 2).shape
    (3, 2)
    """
    n_bytes = 4 * n_rows * width
    if n_bytes <= IN_MEMORY_BYTES:
        return np.zeros((n_rows, width), dtype=np.float32)
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            allocate = getattr(os, "posix_fallocate", None)  # missing on macOS, where the space is not guaranteed
            allocate(file.fileno(), 0, n_bytes) if allocate else file.truncate(n_bytes)
        except OSError as error:
            place = folder or tempfile.gettempdir()
            raise OSError(
                error.errno, f"{place}: no space for {n_bytes / 2**20:.0f} MiB of temporary data; free some ({error.strerror})"
            ) from None
        return np.memmap(file, dtype=np.float32, mode="r+", shape=(n_rows, width))
