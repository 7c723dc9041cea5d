"""Corpora by their names on a command line: a folder, the folder of the five-task dataset, or `synthetic:SHAPE:DIFFICULTY:SEED:D`."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from crosstask.datasets import open_corpus
from crosstask.datasets.niv import is_niv, read_niv
from crosstask.features import PackedFeatures
from crosstask.features.packed_corpus import with_packed_features
from crosstask.methods.zhukov19_checkpoint import update_with_rows
from crosstask.records import Corpus, InputError
from crosstask.storage import digest_of, read_bytes
from crosstask.synthetic import generate_corpus, generate_without_features

TUNING_SEEDS = (1000, 1001, 1002)  # settings are chosen on synthetic corpora with these seeds, results come from others
PREFIX = "synthetic:"
FORM = f"{PREFIX}SHAPE:DIFFICULTY:SEED:D"
FORMER_PREFIX = "planted:"  # refused, because difficulties of the same name had other features


class SyntheticName(NamedTuple):
    """The parts of a synthetic corpus's name."""

    shape: str
    difficulty: str
    seed: int
    n_dimensions: int

    def __str__(self) -> str:
        """The name as it is written on a command line."""
        return f"{PREFIX}{self.shape}:{self.difficulty}:{self.seed}:{self.n_dimensions}"


def synthetic_name(text: str) -> SyntheticName | None:
    """The parts of `synthetic:SHAPE:DIFFICULTY:SEED:D`; None for anything else.

    >>> synthetic_name("synthetic:demo:clear:3:64")
    SyntheticName(shape='demo', difficulty='clear', seed=3, n_dimensions=64)
    >>> synthetic_name("some/folder") is None
    True
    """
    if text.startswith(FORMER_PREFIX):
        raise InputError(f"corpus '{text}': '{FORMER_PREFIX}' names are no longer supported; expected {FORM}, e.g. {_EXAMPLE}")
    if not text.startswith(PREFIX):
        return None
    parts = text.split(":")[1:]
    if len(parts) != 4 or not all(part.isdecimal() and len(part) < 10 for part in parts[2:]) or int(parts[3]) < 1:
        raise InputError(f"corpus '{text}': expected {FORM}, e.g. {_EXAMPLE}")
    return SyntheticName(parts[0], parts[1], int(parts[2]), int(parts[3]))


_EXAMPLE = SyntheticName("paper", "default", 0, 512)


def corpus_of_run(corpus: str, run: int) -> str:
    """The corpus of one repetition of an experiment: the same for all, except that every synthetic one has its own seed.

    >>> corpus_of_run("synthetic:demo:clear:3:64", 2), corpus_of_run("folder", 2)
    ('synthetic:demo:clear:5:64', 'folder')
    """
    name = synthetic_name(corpus)
    return corpus if name is None else str(name._replace(seed=name.seed + run))


def corpora_for_tuning(corpus: str) -> list[str]:
    """The corpora on which settings are chosen: the corpus itself, or synthetic ones with seeds that no repetition uses.

    >>> corpora_for_tuning("synthetic:demo:clear:3:64")[:2], corpora_for_tuning("folder")
    (['synthetic:demo:clear:1000:64', 'synthetic:demo:clear:1001:64'], ['folder'])
    """
    name = synthetic_name(corpus)
    return [corpus] if name is None else [str(name._replace(seed=seed)) for seed in TUNING_SEEDS]


@lru_cache(maxsize=1)
def open_without_features(corpus: str) -> Corpus:
    """The corpus with that name; a synthetic one without its features, which take most of the time to generate."""
    name = synthetic_name(corpus)
    return open_once(corpus) if name is None else generate_without_features(name.shape, name.difficulty, name.seed)


@lru_cache(maxsize=1)
def open_once(corpus: str) -> Corpus:
    """The corpus with that name and packed features; the last one stays in memory, since successive jobs use the same."""
    name = synthetic_name(corpus)
    if name is not None:
        return generate_corpus(name.shape, name.difficulty, name.seed, name.n_dimensions)
    if is_niv(Path(corpus)):
        return read_niv(Path(corpus))
    return with_packed_features(open_corpus(corpus))


@lru_cache(maxsize=1)
def corpus_digest(corpus: str) -> str:
    """A digest of what is trained and evaluated on in a folder: tasks, videos, lengths, annotations, windows and features. Subtitles are not part of it.

    The results of finished jobs are used again only as long as it is the same. Packed features enter by their checksums.
    """
    opened = open_once(corpus)
    digest = hashlib.sha256(repr((sorted(opened.tasks.items()), opened.videos, sorted(opened.validation))).encode())
    digest.update(repr(sorted(opened.seconds.items())).encode())
    if (side := opened.text_side) is not None:
        digest.update(f"{side.model} {side.first} {side.width} {digest_of(side.vectors)}".encode())
    if is_niv(Path(corpus)):  # windows of discovered steps, see `windows_for`
        for path in sorted(Path(corpus).glob("windows/*/*.csv")):
            digest.update(f"{path.relative_to(corpus)} ".encode() + read_bytes(path))
    for video in opened.videos:
        for intervals in (opened.annotations, opened.windows):
            try:
                digest.update(repr(tuple(intervals[video.key]) if video.key in intervals else None).encode())
            except InputError as error:  # the job skips the video, or ends with the reason
                digest.update(str(error).encode())
    for video_id in sorted({video.id for video in opened.videos if video.id in opened.features}):
        if isinstance(opened.features, PackedFeatures):
            digest.update(f"{video_id} {opened.features.checksum(video_id)}".encode())
        else:
            digest.update(video_id.encode())
            update_with_rows(digest, opened.features.rows(video_id))
    return digest.hexdigest()
