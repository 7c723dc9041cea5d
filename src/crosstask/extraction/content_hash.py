"""Digest of a file's content, by which finished work is recognised."""

import hashlib
import stat
from errno import EINVAL
from pathlib import Path

# Ours: files up to 64 MiB are read completely, of larger ones 32 evenly spaced blocks of 1 MiB.
_MAX_COMPLETE_BYTES = 64 << 20
_BLOCK_BYTES, _N_BLOCKS = 1 << 20, 32


def content_digest(path: Path) -> str:
    """Sixteen hex digits of the SHA-256 of a file's size and content (32 samples of it above 64 MiB)."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):  # reading a pipe or a device might never end
        raise OSError(EINVAL, "a folder" if path.is_dir() else "not a plain file", str(path))
    size = status.st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        if size <= _MAX_COMPLETE_BYTES:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
        else:
            for number in range(_N_BLOCKS):
                file.seek(number * (size - _BLOCK_BYTES) // (_N_BLOCKS - 1))
                digest.update(file.read(_BLOCK_BYTES))
    return digest.hexdigest()[:16]
