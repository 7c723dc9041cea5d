"""A corpus by its name on a command line: a folder (also that of the five-task set), or `planted:SHAPE:DIFFICULTY:SEED:D`; opened once in a process."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from crosstask.datasets import open_corpus
from crosstask.datasets.niv import is_niv, read_niv
from crosstask.features.packed_corpus import with_packed_features
from crosstask.records import Corpus, InputError
from crosstask.synthetic import generate_corpus, generate_without_features

TUNING_WORLDS = (1000, 1001, 1002)  # planted corpora: settings are chosen on the worlds of these seeds, results come from others


class SyntheticName(NamedTuple):
    """The parts of a planted corpus's name."""

    shape: str
    difficulty: str
    seed: int
    n_dimensions: int

    def __str__(self) -> str:
        """As it is written."""
        return f"planted:{self.shape}:{self.difficulty}:{self.seed}:{self.n_dimensions}"


def synthetic_name(text: str) -> SyntheticName | None:
    """The parts of `planted:SHAPE:DIFFICULTY:SEED:D`, or None for anything else.

    >>> synthetic_name("planted:demo:clear:3:64")
    SyntheticName(shape='demo', difficulty='clear', seed=3, n_dimensions=64)
    >>> synthetic_name("some/folder") is None
    True
    """
    if not text.startswith("planted:"):
        return None
    parts = text.split(":")[1:]
    if len(parts) != 4 or not all(part.isdecimal() and len(part) < 10 for part in parts[2:]) or int(parts[3]) < 1:
        raise InputError(f"corpus '{text}': expected planted:SHAPE:DIFFICULTY:SEED:D, e.g. planted:paper:default:0:512")
    return SyntheticName(parts[0], parts[1], int(parts[2]), int(parts[3]))


def corpus_of_run(corpus: str, run: int) -> str:
    """The corpus a run uses: the same for all, but planted runs each have a world of their own.

    >>> corpus_of_run("planted:demo:clear:3:64", 2), corpus_of_run("folder", 2)
    ('planted:demo:clear:5:64', 'folder')
    """
    name = synthetic_name(corpus)
    return corpus if name is None else str(name._replace(seed=name.seed + run))


def corpora_for_tuning(corpus: str) -> list[str]:
    """The corpora on which settings are chosen: itself, or planted worlds that no run uses.

    >>> corpora_for_tuning("planted:demo:clear:3:64")[:2], corpora_for_tuning("folder")
    (['planted:demo:clear:1000:64', 'planted:demo:clear:1001:64'], ['folder'])
    """
    name = synthetic_name(corpus)
    return [corpus] if name is None else [str(name._replace(seed=seed)) for seed in TUNING_WORLDS]


@lru_cache(maxsize=1)
def open_without_features(corpus: str) -> Corpus:
    """The corpus of that name for who needs its lists alone: a planted one without its rows, which take most of the time to draw."""
    name = synthetic_name(corpus)
    return open_once(corpus) if name is None else generate_without_features(name.shape, name.difficulty, name.seed)


@lru_cache(maxsize=1)
def open_once(corpus: str) -> Corpus:
    """The corpus of that name with packed features; the last one is kept, since jobs of a run come one after another."""
    name = synthetic_name(corpus)
    if name is not None:
        return generate_corpus(name.shape, name.difficulty, name.seed, name.n_dimensions)
    if is_niv(Path(corpus)):
        return read_niv(Path(corpus))
    return with_packed_features(open_corpus(corpus))
