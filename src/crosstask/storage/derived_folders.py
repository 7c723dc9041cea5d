"""Folders for derived files: beside the corpus, or in the user's cache if the corpus is read-only."""

import hashlib
import os
import tempfile
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
    """Path of the derived folder of this name, looked for first where `derived_folder` would write it; nothing is created."""
    beside, in_cache = corpus_folder / ".crosstask" / name, _folder_in_cache(corpus_folder) / name
    if os.access(beside.parent, os.W_OK):
        return beside if beside.is_dir() else in_cache
    return in_cache if in_cache.is_dir() or not beside.is_dir() else beside


def _folder_in_cache(corpus_folder: Path) -> Path:
    folder = corpus_folder.resolve()  # the same for every path and link to it
    return cache_folder() / f"{folder.name}-{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"


def cache_folder() -> Path:
    """The folder of this program in the user's cache; the environment variable CROSSTASK_CACHE overrides it."""
    chosen = os.environ.get("CROSSTASK_CACHE")
    if chosen:
        return Path(chosen)
    if root := os.environ.get("XDG_CACHE_HOME"):
        return Path(root) / "crosstask"
    try:
        return Path.home() / ".cache" / "crosstask"
    except RuntimeError:  # a user without a home folder, as in a container with an unknown uid
        return Path(tempfile.gettempdir()) / f"crosstask-{os.getuid()}"
