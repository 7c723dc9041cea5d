"""Folders for derived files: beside the corpus, or in the user's cache if the corpus is read-only.

`.crosstask` may be a link that a user made, to another disk. A corpus of somebody else may come with links as well, so that a folder which
such a link names must be empty at first, and no folder inside of `.crosstask` may lead out of it.
"""

import errno
import hashlib
import os
import tempfile
from pathlib import Path

from crosstask.storage.atomic import write_text
from crosstask.storage.reading import UnreadableFile, paths_in

_MARK = ".crosstask-derived"  # in a folder that `.crosstask` names by a link: it is ours
_CONTENTS = (
    "pack",
    "features",
    "constraints",
    "subtitles",
    "downloads",
)  # as earlier versions, which made no mark, left them there


def derived_folder(corpus_folder: Path, name: str = "") -> Path:
    """`CORPUS/.crosstask`, created if missing, or the folder NAME in it; in the user's cache if the corpus is read-only."""
    beside = corpus_folder / ".crosstask"
    try:
        beside.mkdir(exist_ok=True)
        can_be_written = os.access(beside, os.W_OK)
    except OSError:
        can_be_written = False
    if not can_be_written:
        cache = _folder_in_cache(corpus_folder)
        cache.mkdir(parents=True, exist_ok=True)
        return cache / name
    _mark_linked(beside)
    refuse_link_out(beside, beside / name)
    return beside / name


def _mark_linked(beside: Path) -> None:
    """Make the folder that a link names one for derived files; UnreadableFile where it holds something else."""
    if beside.is_symlink() and not (beside / _MARK).is_file():
        if others := sorted({path.name for path in paths_in(beside)} - set(_CONTENTS)):
            reason = f"a link to a folder with other files, such as {others[0]}; expected an empty folder: name another, or remove the link"
            raise UnreadableFile(errno.EINVAL, reason, str(beside))
        write_text(beside / _MARK, "crosstask keeps derived files in this folder.\n")


def refuse_link_out(folder: Path, inner: Path) -> None:
    """Raise UnreadableFile if a folder inside of another leads out of it by a link: files would be written and removed there."""
    if not inner.resolve().is_relative_to(folder.resolve()):
        raise UnreadableFile(
            errno.EINVAL, f"a link that leads out of {folder.name}; remove it, or link {folder.name} itself", str(inner)
        )


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
    try:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home folder, as in a container with an unknown uid
        return _temporary_cache()
    folder = root / "crosstask"
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    return folder if os.access(there, os.W_OK) else _temporary_cache()


def _temporary_cache() -> Path:
    """A folder among the temporary files that nobody else can write to."""
    folder = Path(tempfile.gettempdir()) / f"crosstask-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise UnreadableFile(
            errno.EPERM, "belongs to another user; name a folder for the cache: CROSSTASK_CACHE=FOLDER", str(folder)
        )
    return folder
