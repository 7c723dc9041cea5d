"""A folder of exported files: what somebody edited or put there, and exports of other videos, are not overwritten.

A hidden record in the folder holds the digest of every exported file and what it was exported from. What an export is about to write stands
in a second file until it has ended, so that files of an interrupted export are known as well.
"""

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from crosstask.records import InputError
from crosstask.storage import (
    append_lines,
    blocking_lock,
    open_regular,
    read_text,
    replace_file,
    stable_json,
    write_many,
    write_text,
)

log = logging.getLogger(__name__)
RECORD = ".crosstask-exports.json"
UNFINISHED = ".crosstask-exports.unfinished"  # a line for each file
_BATCH = 1000  # small files that are announced and written together
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
    # File -> its digest when it was exported -> sources.
    known: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)  # of each file that was written now

    def refuse_overwriting(self, files: Files) -> None:
        for name, pieces in files:
            path = self.folder / name
            if not path.exists():
                continue
            digest = _digest_of_file(path)
            sources = self.known.get(name, {}).get(digest)
            unedited, others = sources is not None, (sources or frozenset()) - self.sources
            if (unedited and not others) or digest == _digest(piece.encode("utf-8") for piece in pieces):
                continue
            what = f"exported from {min(others)}" if unedited else "edited after it was exported, or not written by an export"
            hint = "" if unedited else "import edits with `crosstask labels import`, "
            raise InputError(
                f"{path}: {what}, and would be overwritten; {hint}name another --out, or overwrite it with --overwrite"
            )

    def write(self, of_format: FormatFiles) -> Iterator[Path]:
        """The paths as they are complete; many small files together, a large one piece by piece."""
        if of_format.one_per_video:
            encoded = ((name, "".join(pieces).encode("utf-8")) for name, pieces in of_format.files())
            while batch := list(islice(encoded, _BATCH)):
                self._announce({name: _digest([data]) for name, data in batch})
                yield from write_many((self.folder / name, data) for name, data in batch)
            return
        self._announce({name: _digest(piece.encode("utf-8") for piece in pieces) for name, pieces in of_format.files()})
        for name, pieces in of_format.files():
            with replace_file(self.folder / name) as file:
                file.writelines(piece.encode("utf-8") for piece in pieces)
            yield self.folder / name

    def _announce(self, digests: dict[str, str]) -> None:
        """Note what is about to be written."""
        sources = sorted(self.sources)
        lines = (json.dumps({"name": name, "digest": digest, "sources": sources}) for name, digest in digests.items())
        # The empty line ends one that a killed process may have left without its end.
        append_lines(self.folder / UNFINISHED, chain([""], lines))
        self.digests.update(digests)

    def write_record(self) -> None:
        """Write what is known of each exported file, and end the export."""
        by_sources: dict[tuple[str, ...], dict[str, str]] = {}
        for name, digest in self.digests.items():
            by_sources.setdefault(tuple(sorted(self.sources)), {})[name] = digest
        for name in self.known.keys() - self.digests.keys():
            earlier = self._digest_of_known(name)
            by_sources.setdefault(tuple(sorted(self.known[name][earlier])), {})[name] = earlier
        exports = [
            {"sources": list(sources), "files": dict(sorted(files.items()))} for sources, files in sorted(by_sources.items())
        ]
        write_text(self.folder / RECORD, stable_json({"format": 1, "exports": exports}))
        (self.folder / UNFINISHED).unlink(missing_ok=True)

    def _digest_of_known(self, name: str) -> str:
        """Which of its digests a file has that is not written now; the last of them where it has none, or is not there."""
        *_, last = self.known[name]
        path = self.folder / name
        if len(self.known[name]) == 1 or not path.exists():
            return last
        found = _digest_of_file(path)
        return found if found in self.known[name] else last


def _open_exports(folder: Path, sources: Iterable[Path]) -> _Exports:
    """The exports of a folder by its records; none where it has none, or damaged ones."""
    found = _Exports(folder, frozenset(_relative(source, folder) for source in sources))
    known: list[tuple[str, str, frozenset[str]]] = []
    try:
        for export in json.loads(read_text(folder / RECORD))["exports"]:
            of_export = frozenset(map(str, export["sources"]))
            known += [(str(name), str(digest), of_export) for name, digest in export["files"].items()]
    except _DAMAGED:
        known.clear()
    for line in _lines(folder / UNFINISHED):
        try:
            one = json.loads(line)
            known.append((str(one["name"]), str(one["digest"]), frozenset(map(str, one["sources"]))))
        except _DAMAGED:
            continue  # the last line of a killed process, of which a part is missing
    for name, digest, of_export in known:
        found.known.setdefault(name, {})[digest] = of_export
    return found


_DAMAGED = (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def _lines(path: Path) -> list[str]:
    try:
        return read_text(path).split("\n")
    except (FileNotFoundError, UnicodeDecodeError):
        return []


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
