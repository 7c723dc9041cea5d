"""Folders for derived files: beside the corpus, or in the user's cache if the corpus is read-only."""

import hashlib
import os
from pathlib import Path


def derived_folder(corpus_folder: Path) -> Path:
    """`CORPUS/.crosstask`, or a folder in the user's cache if the corpus is read-only; created if missing."""
    beside = corpus_folder / ".crosstask"
    try:
        beside.mkdir(exist_ok=True)
        if os.access(beside, os.W_OK):
            return beside
    except OSError:
        pass
    cache = _folder_in_cache(corpus_folder)
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def existing_derived_folder(corpus_folder: Path, name: str) -> Path:
    """Path of the derived folder of this name, beside the corpus or else in the cache; nothing is created."""
    beside = corpus_folder / ".crosstask" / name
    return beside if beside.is_dir() else _folder_in_cache(corpus_folder) / name


def _folder_in_cache(corpus_folder: Path) -> Path:
    name = hashlib.sha256(str(corpus_folder.resolve()).encode()).hexdigest()[:16]
    return cache_folder() / f"{corpus_folder.name}-{name}"


def cache_folder() -> Path:
    """The folder of this program in the user's cache; the environment variable CROSSTASK_CACHE overrides it."""
    chosen = os.environ.get("CROSSTASK_CACHE")
    if chosen:
        return Path(chosen)
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "crosstask"
