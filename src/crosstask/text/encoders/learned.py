"""The paper's sentence encoder: word vectors, convolution of length one, maximum over words, linear map (supplement).

    f(X) = W2 max_m (W1 x_m + b1) + b2,    x_m the vector (d0,) of word m,    W1 (300, d0),    W2 (300, 300)

As the convolution has length one, W1 x + b1 is computed once per word of the table instead of per sentence.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crosstask.records import InputError
from crosstask.storage import content_is_intact, refuse_other_content, require_regular, with_content_digest, write_bytes
from crosstask.text.encoders.protocol import Vectors, unit_rows
from crosstask.text.encoders.word_vectors import WordVectors, max_over_words

FILTERS = 300  # supplement: d
_KIND = "crosstask sentence encoder"
ENCODER_MARK = _KIND.encode()  # in a safetensors header
Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Parameters:
    """W1 (d, d0), b1 (d,), W2 (d, d), b2 (d,)."""

    W1: Matrix
    b1: Matrix
    W2: Matrix
    b2: Matrix


@dataclass(frozen=True)
class LearnedEncoder:
    """A table of word vectors with the learned aggregation."""

    table: WordVectors
    parameters: Parameters

    @cached_property
    def identity(self) -> str:
        """`learned-` and a digest of table and parameters."""
        digest = hashlib.sha256(self.table.digest.encode())
        for array in vars(self.parameters).values():
            digest.update(np.ascontiguousarray(array).tobytes())
        return f"learned-{digest.hexdigest()[:16]}"

    @cached_property
    def _filtered(self) -> Matrix:
        return self.table.vectors @ self.parameters.W1.T + self.parameters.b1  # (V, d0)(d0, d) -> (V, d)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """(n, 300) float32, unit rows."""
        rows = [self.table.rows_of(sentence) for sentence in sentences]
        mapped = max_over_words(self._filtered, rows) @ self.parameters.W2.T + self.parameters.b2
        empty = np.array([not words for words in rows], dtype=bool).reshape(-1, 1)
        return unit_rows(np.where(empty, 0, mapped))


def write_learned(path: Path, encoder: LearnedEncoder, about: dict[str, object]) -> None:
    """Write one safetensors file: parameters, word vectors in half precision, and words and settings as JSON metadata."""
    from safetensors.numpy import save

    refuse_other_content(path, ENCODER_MARK)
    tensors = {name: np.ascontiguousarray(array) for name, array in vars(encoder.parameters).items()}
    tensors["vectors"] = np.ascontiguousarray(encoder.table.vectors, dtype=np.float16)
    about = {"kind": _KIND, "version": 1, "words": list(encoder.table.words), **about}
    text = json.dumps(with_content_digest(about, tensors), sort_keys=True, ensure_ascii=False)
    write_bytes(path, save(tensors, {"about": text}))


def read_learned(path: Path) -> LearnedEncoder:
    """The encoder in a file that `write_learned` wrote."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(require_regular(path), "numpy") as file:
            about = json.loads((file.metadata() or {}).get("about", "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path}: cannot be read as a sentence encoder ({error}); expected one from `crosstask encoder train`"
        ) from error
    kind = about.get("kind") if isinstance(about, dict) else None
    if kind != _KIND or not {"W1", "b1", "W2", "b2", "vectors"} <= set(tensors):
        raise InputError(f"{path}: not a sentence encoder; expected a file from `crosstask encoder train`")
    if not content_is_intact(about, tensors):
        raise InputError(f"{path}: damaged: its contents do not match their checksum; copy it or train the encoder again")
    words, vectors = about.get("words"), tensors.pop("vectors").astype(np.float32)
    parameters = Parameters(**{name: tensors[name] for name in ("W1", "b1", "W2", "b2")})
    if not isinstance(words, list) or vectors.ndim != 2 or not _fit(parameters, (len(words), vectors.shape[1]), vectors.shape):
        raise InputError(f"{path}: its words do not fit its numbers; train the encoder again")
    return LearnedEncoder(WordVectors(tuple(str(word) for word in words), vectors), parameters)


def _fit(parameters: Parameters, expected: tuple[int, ...], found: tuple[int, ...]) -> bool:
    """True if there is one vector per word and W2 (W1 x + b1) + b2 can be computed."""
    d = len(parameters.b1) if parameters.b1.ndim == 1 else -1
    shapes = [parameters.W1.shape, parameters.W2.shape, parameters.b2.shape]
    return expected == found and shapes == [(d, found[1]), (d, d), (d,)]
