"""Vectors remembered by content, so that a second run costs seconds.

A row is known by the digest of its text, a folder by the identity of its encoder. New rows go to new files (`shards`), so an
interrupted run keeps what it had and two runs at once cannot harm each other. Rows are kept in half precision; a first run
returns the very numbers a second will read.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.storage import write_bytes
from crosstask.text.encoders.protocol import Encoder, Vectors

_SHARD_TEXTS = 2048
Progress = Callable[[int, int], None]  # sentences done, sentences to do


class CachedEncoder:
    """An encoder in front of a folder of remembered vectors."""

    def __init__(self, encoder: Encoder, folder: Path, progress: Progress | None = None) -> None:
        self._encoder = encoder
        self._folder = folder / encoder.identity
        self._progress = progress
        self._known: dict[bytes, Vectors] | None = None

    @property
    def identity(self) -> str:
        """That of the encoder inside."""
        return self._encoder.identity

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """(n, d) float32, unit rows to half precision; each different sentence is encoded once in a lifetime."""
        if not sentences:
            return self._encoder.encode([])
        self.remember(sentences)
        known = self._load()
        return np.stack([known[_key(sentence)] for sentence in sentences]).astype(np.float32)

    def remember(self, sentences: Iterable[str]) -> None:
        """Encode what is not known yet; asking for much at once is quicker than asking often."""
        known = self._load()
        missing = {key: sentence for sentence in sentences if (key := _key(sentence)) not in known}
        # Sentences of like length share a batch, and batches do not depend on the order of asking.
        to_do = sorted(missing, key=lambda key: (len(missing[key]), key))
        for first in range(0, len(to_do), _SHARD_TEXTS):
            self._add(to_do[first : first + _SHARD_TEXTS], missing)
            if self._progress is not None and len(to_do) > _SHARD_TEXTS:
                self._progress(min(first + _SHARD_TEXTS, len(to_do)), len(to_do))

    def _load(self) -> dict[bytes, Vectors]:
        """Remembered rows; a file that does not read is forgotten, its rows are made again."""
        if self._known is None:
            self._known = {}
            for file in sorted(self._folder.glob("*.safetensors")):
                self._known.update(_read_shard(file))
        return self._known

    def _add(self, keys: Sequence[bytes], texts: dict[bytes, str]) -> None:
        from safetensors.numpy import save

        rows = self._encoder.encode([texts[key] for key in keys]).astype(np.float16)
        shard: dict[str, np.ndarray[Any, Any]] = {
            "keys": np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), -1),
            "rows": rows,
        }
        name = hashlib.sha256(b"".join(keys)).hexdigest()[:20]
        write_bytes(self._folder / f"{name}.safetensors", save(shard))
        self._load().update(zip(keys, rows, strict=True))


def _key(sentence: str) -> bytes:
    return hashlib.sha256(sentence.encode("utf-8", "surrogatepass")).digest()[:16]


def _read_shard(file: Path) -> dict[bytes, Vectors]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        shard = load(file.read_bytes())
        return dict(zip((key.tobytes() for key in shard["keys"]), shard["rows"], strict=True))
    except (OSError, KeyError, ValueError, SafetensorError):
        return {}
