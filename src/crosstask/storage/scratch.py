"""Room for numbers that are needed for one computation: in memory while they are few, in a file without a name when they are many.

The file is unlinked as soon as it is open, so that nothing is left behind however the process ends, and its room on the disk is taken
at once: a full disk is an error in one line, not a crash in the middle.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

IN_MEMORY_BYTES = 256 * 2**20


def scratch_rows(n_rows: int, width: int, folder: Path | None = None) -> npt.NDArray[np.float32]:
    """(n, width) zeros to be written and read by this process; more than 256 MiB lie in a nameless file in `folder`.

    >>> scratch_rows(3, 2).shape
    (3, 2)
    """
    n_bytes = 4 * n_rows * width
    if n_bytes <= IN_MEMORY_BYTES:
        return np.zeros((n_rows, width), dtype=np.float32)
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            take_room = getattr(os, "posix_fallocate", None)  # macOS has none: there the room is only promised
            take_room(file.fileno(), 0, n_bytes) if take_room else file.truncate(n_bytes)
        except OSError as error:
            place = folder or tempfile.gettempdir()
            raise OSError(
                error.errno, f"{place}: no room for {n_bytes / 2**20:.0f} MiB of scratch rows; free some ({error.strerror})"
            ) from None
        return np.memmap(file, dtype=np.float32, mode="r+", shape=(n_rows, width))
