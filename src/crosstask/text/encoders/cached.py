"""An on-disk cache of sentence vectors.

The key of a row is the digest of its sentence, the name of a folder the identity of its encoder. New rows are written to new files
(shards), so interrupted or concurrent processes lose nothing. Rows are stored in half precision, and `encode` returns these rounded rows
even when they were just computed. Each sentence is encoded alone: in a batch the last bits of a row depend on the other sentences,
so that everything made from it would depend on what was encoded earlier. A file whose digest does not fit is not used.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.storage import digest_of, require_regular, write_bytes
from crosstask.text.encoders.protocol import Encoder, Vectors

_SHARD_TEXTS = 2048  # sentences per file; ours
_ONE_AT_A_TIME = "-single"  # folders without this ending hold rows of batches
_DIGEST = "digest"  # of the arrays, in the header of a file
Progress = Callable[[int, int], None]  # sentences done, sentences to do


class CachedEncoder:
    """An encoder whose vectors are cached in a folder."""

    def __init__(self, encoder: Encoder, folder: Path, progress: Progress | None = None) -> None:
        self._encoder = encoder
        self._folder = folder / f"{encoder.identity}{_ONE_AT_A_TIME}"
        self._progress = progress
        self._known: dict[bytes, Vectors] | None = None

    @property
    def identity(self) -> str:
        """The identity of the wrapped encoder."""
        return self._encoder.identity

    @property
    def english_only(self) -> bool:
        """True if the wrapped encoder is known to know English alone."""
        return bool(getattr(self._encoder, "english_only", False))

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """(n, d) float32, unit rows rounded to half precision; each distinct sentence is encoded once."""
        if not sentences:
            return self._encoder.encode([])
        self.encode_missing(sentences)
        known = self._load()
        return np.stack([known[_key(sentence)] for sentence in sentences]).astype(np.float32)

    def encode_missing(self, sentences: Iterable[str]) -> None:
        """Encode the sentences that are not cached yet; one call with many sentences writes fewer files than many calls."""
        known = self._load()
        missing = {key: sentence for sentence in sentences if (key := _key(sentence)) not in known}
        to_do = sorted(missing)
        for first in range(0, len(to_do), _SHARD_TEXTS):
            self._add(to_do[first : first + _SHARD_TEXTS], missing)
            if self._progress is not None and len(to_do) > _SHARD_TEXTS:
                self._progress(min(first + _SHARD_TEXTS, len(to_do)), len(to_do))

    def _load(self) -> dict[bytes, Vectors]:
        """Key -> row of all readable files; rows of an unreadable file are computed again."""
        if self._known is None:
            self._known = {}
            for file in sorted(self._folder.glob("*.safetensors")):
                self._known.update(_read_shard(file))
        return self._known

    def _add(self, keys: Sequence[bytes], texts: dict[bytes, str]) -> None:
        from safetensors.numpy import save

        rows = np.concatenate([self._encoder.encode([texts[key]]) for key in keys]).astype(np.float16)
        shard: dict[str, np.ndarray[Any, Any]] = {
            "keys": np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), -1),
            "rows": rows,
        }
        name = hashlib.sha256(b"".join(keys)).hexdigest()[:20]
        write_bytes(self._folder / f"{name}.safetensors", save(shard, {_DIGEST: digest_of(shard)}))
        self._load().update(zip(keys, rows, strict=True))


def _key(sentence: str) -> bytes:
    return hashlib.sha256(sentence.encode("utf-8", "surrogatepass")).digest()[:16]


def _read_shard(file: Path) -> dict[bytes, Vectors]:
    """Key -> row of a file; nothing where it is damaged."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(require_regular(file), framework="numpy") as opened:
            shard = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - it is no mapping
            digest = (opened.metadata() or {}).get(_DIGEST)
        if digest != digest_of(shard):
            return {}
        return dict(zip((key.tobytes() for key in shard["keys"]), shard["rows"], strict=True))
    except (OSError, KeyError, ValueError, SafetensorError):
        return {}
