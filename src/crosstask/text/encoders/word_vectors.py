"""Tables of word vectors, read from files, and the encoder that max-pools them over a sentence.

Files: GloVe or fastText text (`word 0.1 0.2 ...`, optionally after a line `count dimension`), or `NAME.npy` with `NAME.words.txt`
(line i is the word of row i).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crosstask.records import InputError, at_line
from crosstask.storage import NotAnArray, map_array, read_text, require_regular
from crosstask.text.encoders.protocol import Vectors, unit_rows
from crosstask.text.stems import words_of_text


@dataclass(frozen=True)
class WordVectors:
    """V words with their vectors (V, d)."""

    words: tuple[str, ...]
    vectors: npt.NDArray[np.float32]

    @cached_property
    def number(self) -> dict[str, int]:
        """Word -> row."""
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def digest(self) -> str:
        """Sixteen hex digits of the SHA-256 of words and vectors."""
        return hashlib.sha256("\n".join(self.words).encode() + self.vectors.tobytes()).hexdigest()[:16]

    def rows_of(self, sentence: str) -> list[int]:
        """Rows of the known words of a sentence; "don't" is looked up as a whole, then as 'don'."""
        found = []
        for word in words_of_text(sentence):
            row = self.number.get(word)
            row = self.number.get(word.partition("'")[0]) if row is None else row
            if row is not None:
                found.append(row)
        return found


@dataclass(frozen=True)
class MaxPooled:
    """Encoder that takes the maximum over the words of a sentence in each dimension (supplement, second choice of f)."""

    table: WordVectors

    @property
    def identity(self) -> str:
        """`max-pooled-` and a digest of the table."""
        return f"max-pooled-{self.table.digest}"

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """(n, d) float32, unit rows."""
        rows = [self.table.rows_of(sentence) for sentence in sentences]
        return unit_rows(max_over_words(self.table.vectors, rows))


def max_over_words(word_values: npt.NDArray[np.float32], rows: Sequence[Sequence[int]]) -> Vectors:
    """(n, d) maxima of the (V, d) word values over the words of each sentence; zeros for a sentence without words.

    >>> max_over_words(np.array([[1, -2], [0, 5]], np.float32), [[0, 1], []]).tolist()
    [[1.0, 5.0], [0.0, 0.0]]
    """
    pooled = np.zeros((len(rows), word_values.shape[1]), np.float32)
    filled = [i for i, words in enumerate(rows) if words]
    if filled:
        flat = np.concatenate([np.asarray(rows[i]) for i in filled])
        starts = np.concatenate([[0], np.cumsum([len(rows[i]) for i in filled])[:-1]])
        pooled[filled] = np.maximum.reduceat(word_values[flat], starts, axis=0)
    return pooled


def read_word_vectors(path: Path) -> WordVectors:
    """The word vectors of a file; an `.npy` file needs its `.words.txt` in the same folder."""
    if not path.exists():
        raise InputError(f"{path}: no such file; expected word vectors (GloVe or fastText text, or .npy with .words.txt)")
    return _read_pair(path) if path.suffix == ".npy" else _read_text(path)


def _read_pair(path: Path) -> WordVectors:
    listing = path.with_suffix(".words.txt")
    if not listing.exists():
        raise InputError(f"{path}: {listing.name} is missing in its folder; expected one word per line, line i for row i")
    try:
        vectors = map_array(path)
        words = read_text(listing, "utf-8").removesuffix("\n").split("\n")
    except (OSError, NotAnArray, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}; expected numbers, and their words as UTF-8 in {listing.name}") from None
    if vectors.dtype.kind != "f":
        raise InputError(f"{path.name}: holds {vectors.dtype}; expected floating point numbers")
    if vectors.ndim != 2 or len(vectors) != len(words):
        raise InputError(f"{path.name}: {vectors.shape} numbers for {len(words)} words; expected one row per word")
    return _checked(path, words, vectors.astype(np.float32))


def _read_text(path: Path) -> WordVectors:
    words: list[str] = []
    rows: list[npt.NDArray[np.float32]] = []
    with require_regular(path).open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            parts = line.rstrip().split(" ")
            if number == 1 and len(parts) == 2 and all(part.isdecimal() for part in parts):
                continue  # the header line of fastText and word2vec
            try:
                row = np.array(parts[1:], dtype=np.float32)
            except ValueError as error:
                raise at_line(path, number, f"found {line[:40]!r}; expected a word and its numbers") from error
            if len(row) < 2 or (rows and len(row) != len(rows[0])):
                raise at_line(path, number, f"{len(row)} numbers; expected {len(rows[0]) if rows else 'at least 2'}")
            words.append(parts[0])
            rows.append(row)
    if not rows:
        raise InputError(f"{path.name}: no word vectors in it; expected lines of a word and its numbers")
    return _checked(path, words, np.stack(rows))


def _checked(path: Path, words: Sequence[str], vectors: npt.NDArray[np.float32]) -> WordVectors:
    if not np.isfinite(vectors).all():
        row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise InputError(f"{path.name}, word {row + 1} ({words[row]!r}): a number that is not finite")
    return WordVectors(tuple(words), vectors)
