"""Sentence encoders: sentences to unit vectors. One file per encoder."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from crosstask.records import InputError
from crosstask.text.encoders.cached import CachedEncoder
from crosstask.text.encoders.learned import read_learned
from crosstask.text.encoders.protocol import Encoder, Vectors, similarity_of, unit_rows
from crosstask.text.encoders.sentence import SentenceEncoder
from crosstask.text.encoders.tfidf import fit_tfidf
from crosstask.text.encoders.universal import UniversalEncoder
from crosstask.text.encoders.word_vectors import MaxPooled, read_word_vectors

__all__ = ["ENCODERS", "CachedEncoder", "Encoder", "Vectors", "open_encoder", "similarity_of", "unit_rows"]


def _tfidf(file: Path | None, documents: Sequence[str]) -> Encoder:
    return fit_tfidf(documents)


def _max_pooled(file: Path | None, documents: Sequence[str]) -> Encoder:
    return MaxPooled(read_word_vectors(_required(file, "max-pooled", "word vectors, e.g. glove.6B.100d.txt")))


def _learned(file: Path | None, documents: Sequence[str]) -> Encoder:
    return read_learned(_required(file, "learned", "a file that `crosstask encoder train --out FILE` wrote"))


def _sentence(file: Path | None, documents: Sequence[str]) -> Encoder:
    return SentenceEncoder(file)


def _universal(file: Path | None, documents: Sequence[str]) -> Encoder:
    return UniversalEncoder()


def _required(file: Path | None, name: str, what: str) -> Path:
    if file is None:
        raise InputError(f"encoder {name}: no file given; expected --encoder-file with {what}")
    return file


# Name -> (file of the encoder, documents for counting words) -> encoder.
ENCODERS: Mapping[str, Callable[[Path | None, Sequence[str]], Encoder]] = {
    "tfidf": _tfidf,
    "max-pooled": _max_pooled,
    "learned": _learned,
    "sentence": _sentence,
    "use": _universal,
}


def open_encoder(name: str, file: Path | None = None, documents: Sequence[str] = ()) -> Encoder:
    """The encoder of that name; `tfidf` is fitted to the documents, the others read a file."""
    if name not in ENCODERS:
        raise InputError(f"encoder '{name}' is unknown; expected one of {', '.join(ENCODERS)}")
    return ENCODERS[name](file, documents)
