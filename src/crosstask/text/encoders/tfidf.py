"""TF-IDF vectors of stemmed words.

    weight(word in sentence) = count * idf,    idf = 1 + log((1 + n) / (1 + df)),    rows divided by their norms

n is the number of documents, df the number that contain the word. A document is the narration of a video.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.text.encoders.protocol import Vectors
from crosstask.text.stems import stem

_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=200_000)
def _stems(token: str) -> tuple[str, ...]:
    """Stems of a token without what follows an apostrophe: 'shelf' for "shelf's", two stems for 'salt-pepper'."""
    return tuple(stem(word) for word in _WORD.findall(token.lower().replace("’", "'").partition("'")[0]))


def stems_of_sentence(sentence: str) -> list[str]:
    """The stems of running text, in order.

    >>> stems_of_sentence("Now, she's pouring milk!")
    ['now', 'she', 'pour', 'milk']
    """
    return [word for token in sentence.split() for word in _stems(token)]


@dataclass(frozen=True)
class TfIdf:
    """TF-IDF encoder over a vocabulary; words outside it are ignored."""

    words: tuple[str, ...]
    idf: npt.NDArray[np.float32]

    @cached_property
    def _number(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def identity(self) -> str:
        """`tfidf-` and a digest of vocabulary and weights."""
        digest = hashlib.sha256("\n".join(self.words).encode() + self.idf.tobytes())
        return f"tfidf-{digest.hexdigest()[:16]}"

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """(n, vocabulary) float32, unit rows."""
        return np.asarray(self._sparse(sentences).todense(), dtype=np.float32)

    def similarity(self, sentences: Sequence[str], others: Sequence[str]) -> Vectors:
        """(n, m) cosines: `encode(sentences) @ encode(others).T`, computed with sparse matrices."""
        return np.asarray((self._sparse(sentences) @ self._sparse(others).T).todense(), dtype=np.float32)

    def _sparse(self, sentences: Sequence[str]) -> Any:
        """(n, vocabulary) as a sparse matrix, unit rows."""
        from scipy.sparse import csr_array

        numbers = [[n for word in stems_of_sentence(s) if (n := self._number.get(word)) is not None] for s in sentences]
        columns = np.array([n for row in numbers for n in row], dtype=np.int64)
        ends = np.cumsum([0, *(len(row) for row in numbers)])
        rows = csr_array((self.idf[columns], columns, ends), shape=(len(sentences), len(self.words)))
        rows.sum_duplicates()
        of_entry = np.repeat(np.arange(len(sentences)), np.diff(rows.indptr))
        length = np.sqrt(np.bincount(of_entry, rows.data.astype(np.float64) ** 2, minlength=len(sentences)))
        rows.data = (rows.data / length[of_entry]).astype(np.float32)
        return rows


def fit_tfidf(documents: Iterable[str]) -> TfIdf:
    """The encoder with document frequencies counted in `documents`.

    >>> fit_tfidf(["pour the milk", "whisk the egg"]).encode(["the milk"]).round(2).tolist()
    [[0.0, 0.8100000023841858, 0.0, 0.5799999833106995, 0.0]]
    """
    counts: Counter[str] = Counter()
    n = 0
    for document in documents:
        counts.update(set(stems_of_sentence(document)))
        n += 1
    words = tuple(sorted(counts))
    df = np.array([counts[word] for word in words], dtype=np.float64)
    return TfIdf(words, (1 + np.log((1 + n) / (1 + df))).astype(np.float32))
