"""What an encoder is: sentences in, unit rows out."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Encoder(Protocol):
    """Sentences become vectors whose dot product says how alike they are."""

    @property
    def identity(self) -> str:
        """What the vectors depend on besides the sentence: the name of their cache."""
        ...

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """(n, d) float32, rows of length one; a sentence without any known word is a row of zeros."""
        ...


def unit_rows(vectors: npt.ArrayLike) -> Vectors:
    """Rows divided by their lengths, rows of zeros kept; (n, d) -> (n, d).

    >>> unit_rows([[3, 4], [0, 0]]).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    rows = np.asarray(vectors, dtype=np.float32)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 1e-12)


def similarity_of(encoder: Encoder, sentences: Sequence[str], others: Sequence[str]) -> Vectors:
    """(n, m) cosines between sentences and others, by the encoder's own short cut where it has one."""
    short_cut = getattr(encoder, "similarity", None)
    if short_cut is not None:
        cosines: Vectors = short_cut(sentences, others)
        return cosines
    return encoder.encode(sentences) @ encoder.encode(others).T  # (n, d)(d, m)
