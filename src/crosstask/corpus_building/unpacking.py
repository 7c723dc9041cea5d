"""Archives unpacked safely: only plain files and folders, only below the target, and never more than was allowed.

Everything is written to a folder of its own beside the target and moved when whole. A bomb is stopped by what really comes out, whatever
its directory claims: at most `most_bytes` in all, and at most `most_ratio` times the size of the archive.
"""

import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO
from zlib import error as DamagedStream  # noqa: N812

from crosstask.records import InputError

_CHUNK = 256 * 1024


@dataclass(frozen=True)
class Limits:
    """What an archive may become."""

    most_bytes: int = 200 * 10**9
    most_ratio: float = 200.0
    most_files: int = 200_000


def unpack(archive: Path, folder: Path, expected: str, limits: Limits = Limits()) -> int:  # noqa: B008
    """How many files were put into `folder / expected`; what stands there already keeps files the archive does not have."""
    fresh = folder / f".{archive.name}.unpacking"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        count = _write_all(archive, fresh, limits)
        source = _folder_of(fresh, expected, archive)
        _move_files(source, folder / expected)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, DamagedStream, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{archive.name}: damaged or no zip or tar archive ({error}); download it again") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return count


def _write_all(archive: Path, fresh: Path, limits: Limits) -> int:
    allowed = min(limits.most_bytes, int(limits.most_ratio * archive.stat().st_size) + 10**6)
    count = written = 0
    for name, stream in _members(archive):
        count += 1
        if count > limits.most_files:
            raise InputError(f"{archive.name}: more than {limits.most_files} files; this is no part of the set")
        target = fresh.joinpath(*_safe_parts(archive, name))
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            while chunk := stream.read(_CHUNK):
                written += len(chunk)
                if written > allowed:
                    raise InputError(f"{archive.name}: unpacks to more than {allowed} bytes; this is no part of the set")
                file.write(chunk)
    return count


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """(name, content) of every plain file; links and devices are refused."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            for entry in opened.infolist():
                if (entry.external_attr >> 16) & 0o170000 == 0o120000:
                    raise InputError(f"{archive.name}: {entry.filename[:80]!r} is a link; expected plain files")
                if not entry.is_dir():
                    with opened.open(entry) as stream:
                        yield entry.filename, stream
        return
    with tarfile.open(archive, "r|*") as packed:
        for member in packed:
            if member.isdir():
                continue
            stream_of = packed.extractfile(member) if member.isreg() else None
            if stream_of is None:
                raise InputError(f"{archive.name}: {member.name[:80]!r} is a link or device; expected plain files")
            yield member.name, stream_of


def _safe_parts(archive: Path, name: str) -> tuple[str, ...]:
    path = PurePosixPath(name)
    parts = [part for part in path.parts if part != "."]
    bad = path.is_absolute() or ".." in parts or "\\" in name or ":" in name or "\0" in name or not parts
    if bad or any(len(part.encode("utf-8", "replace")) > 255 for part in parts):
        raise InputError(f"{archive.name}: {name[:80]!r} would lie outside the folder; nothing was unpacked")
    return tuple(parts)


def _folder_of(fresh: Path, expected: str, archive: Path) -> Path:
    """Where the expected folder lies in what was unpacked: by its name, or everything when nothing has that name."""
    named = sorted(path for path in fresh.rglob(expected) if path.is_dir())
    if named:
        return named[0]
    inside = list(fresh.iterdir())
    if not inside:
        raise InputError(f"{archive.name}: empty; download it again")
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else fresh


def _move_files(source: Path, target: Path) -> None:
    """A folder that is not there yet appears whole; else file by file."""
    if not target.exists():
        source.replace(target)
        return
    for path in sorted(path for path in source.rglob("*") if path.is_file()):
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.replace(place)
