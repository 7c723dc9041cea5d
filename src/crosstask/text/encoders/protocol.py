"""The interface of sentence encoders."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Encoder(Protocol):
    """Maps sentences to unit vectors whose dot product is their similarity."""

    @property
    def identity(self) -> str:
        """A name of everything the vectors depend on besides the sentence; the key of their cache."""
        ...

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """(n, d) float32, unit rows; a sentence without any known word is a row of zeros."""
        ...


def unit_rows(vectors: npt.ArrayLike) -> Vectors:
    """(n, d) rows divided by their norms; rows of zeros stay zero.

    >>> unit_rows([[3, 4], [0, 0]]).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    rows = np.asarray(vectors, dtype=np.float32)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 1e-12)


def similarity_of(encoder: Encoder, sentences: Sequence[str], others: Sequence[str]) -> Vectors:
    """(n, m) cosines between sentences and others; by the encoder's own method `similarity` if it has one."""
    similarity = getattr(encoder, "similarity", None)
    if similarity is not None:
        cosines: Vectors = similarity(sentences, others)
        return cosines
    return encoder.encode(sentences) @ encoder.encode(others).T  # (n, d)(d, m)
