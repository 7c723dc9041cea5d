"""Digest of a file's content, by which finished work is recognised.

The whole file is read, as files of one size and similar bytes occur: a download that reserves its space first, a damaged block that was copied
again. So that a folder of long videos is not read again by every command, the digest of a large file is kept in the user's cache beside
the file's inode, size and times of change. The time of an inode's change (ctime) is set by the system alone, so every write shows.
"""

import hashlib
import os
import stat
import time
from contextlib import suppress
from errno import EINVAL
from pathlib import Path

from crosstask.storage import cache_folder, read_text, write_text

_BLOCK_BYTES = 1 << 20
# Ours: below this size reading costs little more than looking up.
_SMALLEST_CACHED_BYTES = 8 << 20
_SETTLED_S = 10.0  # a file that changed later than that ago may change again within the resolution of its times


def content_digest(path: Path) -> str:
    """Sixteen hex digits of the SHA-256 of a file's size and content."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):  # reading a pipe or a device might never end
        raise OSError(EINVAL, "a folder" if path.is_dir() else "not a plain file", str(path))
    if status.st_size < _SMALLEST_CACHED_BYTES:
        return _digest(path, status.st_size)
    state, kept = _state(status), _cache_file(path)
    with suppress(OSError, ValueError):
        known_state, known_digest = read_text(kept).split()
        if known_state == state:
            return known_digest
    digest = _digest(path, status.st_size)
    if _state(path.stat()) == state and time.time() - status.st_ctime > _SETTLED_S:
        with suppress(OSError):
            write_text(kept, f"{state} {digest}\n")
    return digest


def _digest(path: Path, size: int) -> str:
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()[:16]


def _state(status: os.stat_result) -> str:
    """What differs after every write to a file, or after another file took its name."""
    return f"{status.st_dev}-{status.st_ino}-{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"


def _cache_file(path: Path) -> Path:
    return cache_folder() / "digests" / hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]
