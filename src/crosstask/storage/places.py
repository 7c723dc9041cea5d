"""Where files that we derive may lie: beside the corpus, or in the user's cache when that cannot be written."""

import hashlib
import os
from pathlib import Path


def derived_folder(corpus_folder: Path) -> Path:
    """`CORPUS/.crosstask`, or a folder of its own in the user's cache when the corpus is read-only."""
    beside = corpus_folder / ".crosstask"
    try:
        beside.mkdir(exist_ok=True)
        if os.access(beside, os.W_OK):
            return beside
    except OSError:
        pass
    cache = _cached(corpus_folder)
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def existing_derived(corpus_folder: Path, name: str) -> Path:
    """Where a derived folder of this name lies already, beside the corpus or in the cache; makes nothing."""
    beside = corpus_folder / ".crosstask" / name
    return beside if beside.is_dir() else _cached(corpus_folder) / name


def _cached(corpus_folder: Path) -> Path:
    name = hashlib.sha256(str(corpus_folder.resolve()).encode()).hexdigest()[:16]
    return cache_folder() / f"{corpus_folder.name}-{name}"


def cache_folder() -> Path:
    """The user's cache folder of this program; CROSSTASK_CACHE moves it."""
    chosen = os.environ.get("CROSSTASK_CACHE")
    if chosen:
        return Path(chosen)
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "crosstask"
