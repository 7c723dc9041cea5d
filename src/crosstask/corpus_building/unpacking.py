"""Safe unpacking of archives: only regular files and folders, only inside the target, and within limits on number and size.

Files are unpacked into a temporary folder beside the target and moved when complete. Decompression bombs are stopped by the number of
bytes actually written, not by the sizes the archive states: at most `max_bytes`, and at most `max_ratio` times the size of the archive.
"""

import logging
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from filecmp import cmp
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO, Self
from zlib import error as DamagedStream  # noqa: N812

from crosstask.records import InputError
from crosstask.storage import flush_tree

log = logging.getLogger(__name__)
_DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, EOFError, DamagedStream, LZMAError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError),
)
_CHUNK_BYTES = 256 * 1024
_MAX_PATH = 1000  # ours: of a name in an archive; systems allow about 4,000 for the whole path
_MAX_NAME_BYTES = 2**20  # ours: of a long name or extended header in a tar archive, which is read into memory whole


@dataclass(frozen=True)
class UnpackLimits:
    """Limits on the unpacked contents of an archive."""

    max_bytes: int = 200 * 10**9
    max_ratio: float = 200.0
    max_files: int = 200_000


def unpack(archive: Path, folder: Path, expected: str, holds: str = "*", limits: UnpackLimits = UnpackLimits()) -> int:  # noqa: B008
    """The number of files, now in `folder / expected`; existing ones are kept, and a warning names those that differ.

    They are those of the folder of that name in the archive, or of its only one, with a file that fits the pattern `holds`.
    """
    target = folder / expected
    temporary = (target if target.is_dir() else folder) / f".{archive.name}.unpacking"  # on the disk to which a user's link leads
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        _write_all(archive, temporary, limits)
        source = _folder_of(temporary, expected, holds, archive)
        count = sum(path.is_file() for path in source.rglob("*"))
        flush_tree(source)
        _move_files(source, target)
    except InputError:
        raise
    except OSError as error:
        if error.errno is not None:  # of the disk
            raise
        raise _damaged(archive, error) from None  # bz2 raises an OSError without a number
    except _DAMAGED as error:
        raise _damaged(archive, error) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return count


def _damaged(archive: Path, error: Exception) -> InputError:
    return InputError(f"{archive.name}: damaged or no zip or tar archive ({error}); download it again")


def _write_all(archive: Path, temporary: Path, limits: UnpackLimits) -> None:
    """Write the files, without what macOS adds; folders count against the limit too, as they take time and memory."""
    allowed = min(limits.max_bytes, int(limits.max_ratio * archive.stat().st_size) + 10**6)
    written = 0
    for number, (name, stream) in enumerate(_members(archive)):
        if number >= limits.max_files:
            raise InputError(f"{archive.name}: more than {limits.max_files} files; this is not a part of the dataset")
        if stream is None:
            continue
        parts = _safe_parts(archive, name)
        if "__MACOSX" in parts or parts[-1].startswith("._"):
            continue
        target = temporary.joinpath(*parts)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            opened = target.open("xb")
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise InputError(
                f"{archive.name}: contains {parts[-1][:80]!r} twice, or a file as a folder; this is not a part of the dataset"
            ) from None
        with opened as file:
            while chunk := stream.read(_CHUNK_BYTES):
                written += len(chunk)
                if written > allowed:
                    raise InputError(f"{archive.name}: unpacks to more than {allowed} bytes; this is not a part of the dataset")
                file.write(chunk)


class _SmallHeaders(tarfile.TarInfo):
    """An entry of a tar archive whose extended headers are small: tarfile reads them into memory, whatever size they state.

    tarfile takes the end of the file for the end of the archive; `archive_ended` is True once the block that marks the latter was read.
    """

    archive_ended = False

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """The header in a block; a ValueError for one that announces a large extended header."""
        cls.archive_ended = not any(buf) and len(buf) == tarfile.BLOCKSIZE
        header = super().frombuf(buf, encoding, errors)
        if header.size > _MAX_NAME_BYTES and header.type in (*_EXTENDED_HEADERS, *_LONG_NAMES):
            raise ValueError(f"a name or extended header of {header.size} bytes")
        return header


_EXTENDED_HEADERS = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
_LONG_NAMES = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes] | None]]:
    """(name, content) of every regular file, (name, None) of every folder; an error for links and devices."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            for entry in opened.infolist():
                if (entry.external_attr >> 16) & 0o170000 == 0o120000:
                    raise InputError(f"{archive.name}: {entry.filename[:80]!r} is a link; expected plain files")
                if entry.is_dir():
                    yield entry.filename, None
                    continue
                with opened.open(entry) as stream:
                    yield entry.filename, stream
        return

    class Headers(_SmallHeaders):
        """Of this archive."""

    with tarfile.open(archive, "r|*", tarinfo=Headers) as packed:
        for member in packed:
            if member.isdir():
                yield member.name, None
                continue
            stream_of = packed.extractfile(member) if member.isreg() else None
            if stream_of is None:
                raise InputError(f"{archive.name}: {member.name[:80]!r} is a link or device; expected plain files")
            yield member.name, stream_of
    if not Headers.archive_ended:
        raise tarfile.ReadError("cut short, without the block that ends an archive")


def _safe_parts(archive: Path, name: str) -> tuple[str, ...]:
    path = PurePosixPath(name)
    parts = [part for part in path.parts if part != "."]
    bad = path.is_absolute() or ".." in parts or "\\" in name or ":" in name or "\0" in name or not parts
    if bad:
        raise InputError(f"{archive.name}: {name[:80]!r} would lie outside the folder; nothing was unpacked")
    if len(name) > _MAX_PATH or any(len(part.encode("utf-8", "replace")) > 255 for part in parts):
        raise InputError(f"{archive.name}: {name[:80]!r}... is too long for a path; this is not a part of the dataset")
    return tuple(parts)


def _folder_of(temporary: Path, expected: str, holds: str, archive: Path) -> Path:
    """The outermost folder of the expected name among the unpacked files, or else their only folder or all of them."""
    inside = list(temporary.iterdir())
    if not inside:
        raise InputError(f"{archive.name}: empty; download it again")
    named = [path for path in temporary.rglob(expected) if path.is_dir()]
    named.sort(key=lambda path: (len(path.parts), path))
    places = named or [inside[0] if len(inside) == 1 and inside[0].is_dir() else temporary]
    found = next((place for place in places if any(path.is_file() for path in place.rglob(holds))), None)
    if found is None:
        raise InputError(f"{archive.name}: no {expected}/{holds} in it; expected an archive of this part of the dataset")
    return found


def _move_files(source: Path, target: Path) -> None:
    """Move a new folder as a whole; into an existing one, the files that it does not have: others may have been edited."""
    if not target.exists():
        source.replace(target)
        return
    different = []
    for path in sorted(path for path in source.rglob("*") if path.is_file()):
        destination = target / path.relative_to(source)
        if destination.is_file():
            if not cmp(path, destination, shallow=False):
                different.append(destination)
            continue
        destination.parent.mkdir(parents=True, exist_ok=True)
        path.replace(destination)
    if different:
        more = f" and {len(different) - 1} more" if len(different) > 1 else ""
        log.warning(
            "%s%s: other than in the archive, and kept; move away what you did not edit, and repeat the command",
            different[0],
            more,
        )
