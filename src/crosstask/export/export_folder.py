"""A folder of exported files: what somebody edited or put there, and exports of other videos, are not overwritten.

A hidden record in the folder holds the digest of every exported file and what it was exported from.
"""

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crosstask.records import InputError
from crosstask.storage import blocking_lock, open_regular, read_text, replace_file, stable_json, write_many, write_text

log = logging.getLogger(__name__)
RECORD = ".crosstask-exports.json"
_CHUNK = 2**20  # bytes
Files = Iterable[tuple[str, Iterable[str]]]  # file name and its text in pieces, made while they are read


@dataclass(frozen=True)
class FormatFiles:
    """The files of one format below the folder; `files` makes them anew at every call."""

    files: Callable[[], Files]
    one_per_video: bool


def write_exported(
    folder: Path,
    formats: Sequence[FormatFiles],
    sources: Sequence[Path],
    overwrite: bool = False,
    advance: Callable[[], object] = lambda: None,
) -> list[Path]:
    """Paths of the files written, which are exported from a run folder or from video files, the sources; `advance` is called after each.

    Nothing is written where a file would be overwritten that was edited, is not from these sources, or was not exported.
    """
    record = folder / RECORD  # its lock lies in the folder, whose parent need not be writable
    with blocking_lock(record, lambda owner: log.warning("%s: waiting for process %s, which exports into it", folder, owner)):
        exports = _open_exports(folder, sources)
        if not overwrite:
            for one in formats:
                exports.refuse_overwriting(one.files())
        paths: list[Path] = []
        for one in formats:
            for path in exports.write(one):
                paths.append(path)
                advance()
        exports.write_record()
    return paths


@dataclass(frozen=True)
class _Exports:
    """The exported files in a folder, by their names relative to it."""

    folder: Path
    sources: frozenset[str]  # of this export; relative to the folder, so that both can be moved together
    digests: dict[str, str] = field(default_factory=dict)  # of each file as it was exported
    sources_of: dict[str, frozenset[str]] = field(default_factory=dict)

    def refuse_overwriting(self, files: Files) -> None:
        for name, pieces in files:
            path = self.folder / name
            if not path.exists():
                continue
            digest = _digest_of_file(path)
            unedited, others = digest == self.digests.get(name), self.sources_of.get(name, frozenset()) - self.sources
            if (unedited and not others) or digest == _digest(piece.encode("utf-8") for piece in pieces):
                continue
            what = f"exported from {min(others)}" if unedited else "edited after it was exported, or not written by an export"
            hint = "" if unedited else "import edits with `crosstask labels import`, "
            raise InputError(
                f"{path}: {what}, and would be overwritten; {hint}name another --out, or overwrite it with --overwrite"
            )

    def write(self, of_format: FormatFiles) -> Iterator[Path]:
        """The paths as they are complete; many small files together, a large one piece by piece."""
        encoded = ((name, (piece.encode("utf-8") for piece in pieces)) for name, pieces in of_format.files())
        if of_format.one_per_video:
            yield from write_many((self.folder / name, b"".join(self._recorded(name, pieces))) for name, pieces in encoded)
            return
        for name, pieces in encoded:
            with replace_file(self.folder / name) as file:
                file.writelines(self._recorded(name, pieces))
            yield self.folder / name

    def _recorded(self, name: str, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The pieces, whose digest is recorded after the last one."""
        hashed = hashlib.sha256()
        for piece in pieces:
            hashed.update(piece)
            yield piece
        self.digests[name], self.sources_of[name] = hashed.hexdigest(), self.sources

    def write_record(self) -> None:
        by_sources: dict[tuple[str, ...], dict[str, str]] = {}
        for name, digest in self.digests.items():
            by_sources.setdefault(tuple(sorted(self.sources_of[name])), {})[name] = digest
        exports = [{"sources": list(sources), "files": files} for sources, files in sorted(by_sources.items())]
        write_text(self.folder / RECORD, stable_json({"format": 1, "exports": exports}))


def _open_exports(folder: Path, sources: Iterable[Path]) -> _Exports:
    """The exports of a folder by its record; none where it has none, or a damaged one."""
    found = _Exports(folder, frozenset(_relative(source, folder) for source in sources))
    try:
        for export in json.loads(read_text(folder / RECORD))["exports"]:
            names = {str(name): str(digest) for name, digest in export["files"].items()}
            found.sources_of.update(dict.fromkeys(names, frozenset(map(str, export["sources"]))))
            found.digests.update(names)
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        found.digests.clear()
    return found


def _relative(source: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(source.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive of Windows
        return str(source.resolve())


def _digest(pieces: Iterable[bytes]) -> str:
    hashed = hashlib.sha256()
    for piece in pieces:
        hashed.update(piece)
    return hashed.hexdigest()


def _digest_of_file(path: Path) -> str:
    with open_regular(path) as file:
        return _digest(iter(lambda: file.read(_CHUNK), b""))
