"""A file from an address: what is there already is kept, the rest is asked for, and nothing counts until its length fits.

`FILE.part` grows; beside it `FILE.part.json` remembers which version it is a part of (ETag or date, and length). A server that ignores ranges, or has
another version now, starts the file anew. Only http and https are followed, redirects included.
"""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from crosstask.records import InputError
from crosstask.storage import write_json

_CHUNK = 256 * 1024
_SPARE_BYTES = 64 * 2**20  # a disk is not filled to the brim
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Patience:
    """How long to wait, and how often to try again."""

    timeout_s: float = 30.0  # without a byte
    attempts: int = 5
    pause_s: float = 1.0  # doubled from attempt to attempt
    most_bytes: int = 200 * 10**9  # of a file whose length nobody says


@dataclass(frozen=True)
class Version:
    """Which version of a file a server has; length None where it does not say."""

    tag: str
    length: int | None


class _OnlyWeb(HTTPRedirectHandler):
    """Redirects to anything but http and https are refused."""

    def redirect_request(self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        """The next request, or an error."""
        refuse_other_schemes(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def refuse_other_schemes(address: str) -> str:
    """The address itself, when it is of the web.

    >>> refuse_other_schemes("https://example.org/a.zip")
    'https://example.org/a.zip'
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"address {address[:200]!r} is not of the web; expected http:// or https://")
    return address


def ask_length(address: str, patience: Patience) -> int | None:
    """How many bytes a server says the file has; None where it does not say or cannot be reached."""
    try:
        with _open(Request(refuse_other_schemes(address), method="HEAD"), patience) as answer:
            return _number(answer.headers.get("Content-Length"))
    except (OSError, HTTPException):
        return None


def fetch_file(address: str, target: Path, patience: Patience, progress: Progress = lambda done, total: None) -> Path:
    """`target`, now holding the whole file; stopped or cut short, the next call goes on where this one ended."""
    refuse_other_schemes(address)
    target.parent.mkdir(parents=True, exist_ok=True)
    trouble = ""
    for attempt in range(patience.attempts):
        if attempt:
            time.sleep(patience.pause_s * 2 ** (attempt - 1))
        try:
            _go_on(address, target, patience, progress)
            return target
        except HTTPError as error:
            trouble = f"the server says {error.code} {error.reason}"
            if error.code == 416:
                _forget(target)
            elif error.code < 500 and error.code != 429:
                break
        except (URLError, HTTPException, TimeoutError, ConnectionError, _CutShort) as error:
            trouble = str(getattr(error, "reason", "") or error) or type(error).__name__
    raise InputError(
        f"{address}: not fetched ({' '.join(trouble.split())}); repeat the command to go on, or name a mirror with --from"
    )


class _CutShort(Exception):
    """The connection ended before the file did."""


def _go_on(address: str, target: Path, patience: Patience, progress: Progress) -> None:
    """One attempt: append what is missing, or start anew when the server has another version."""
    part = target.with_name(target.name + ".part")
    known, have = _remembered(part), part.stat().st_size if part.exists() else 0
    request = Request(address)
    if known is not None and known.tag and have:
        request.add_header("Range", f"bytes={have}-")
        request.add_header("If-Range", known.tag)
    with _open(request, patience) as answer:
        first = _first_byte(answer) if answer.status == 206 else 0
        version = _version(answer, first)
        if answer.status == 206 and (first != have or known is None or version != known):
            _forget(target)
            raise _CutShort("the server changed the file meanwhile")
        _refuse_full_disk(target, None if version.length is None else version.length - first)
        write_json(_note(part), asdict(version))
        with part.open("ab" if first else "wb") as file:
            done = _pour(answer, file, first, version.length, patience, progress)
    if version.length is not None and done != version.length:
        raise _CutShort(f"{done} of {version.length} bytes came")
    if done == 0:
        raise _CutShort("nothing came")
    part.replace(target)
    _note(part).unlink(missing_ok=True)


def _pour(answer: HTTPResponse, file: IO[bytes], done: int, length: int | None, patience: Patience, progress: Progress) -> int:
    """How many bytes the file has after all that came was written."""
    try:
        while chunk := answer.read1(_CHUNK):
            done += len(chunk)
            if done > (patience.most_bytes if length is None else length):
                raise _CutShort("more bytes came than were announced")
            file.write(chunk)
            progress(done, length)
    finally:
        file.flush()
        os.fsync(file.fileno())
    return done


@contextmanager
def _open(request: Request, patience: Patience) -> Iterator[HTTPResponse]:
    request.add_header("User-Agent", "crosstask")
    request.add_header("Accept-Encoding", "identity")
    with build_opener(_OnlyWeb).open(request, timeout=patience.timeout_s) as answer:
        yield answer


def _version(answer: HTTPResponse, first: int) -> Version:
    tag = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
    if answer.status == 206:
        total = (answer.headers.get("Content-Range") or "").rpartition("/")[2]
        return Version(tag, _number(total))
    return Version("" if tag.startswith("W/") else tag, _number(answer.headers.get("Content-Length")))


def _first_byte(answer: HTTPResponse) -> int:
    span = (answer.headers.get("Content-Range") or "").removeprefix("bytes ").partition("-")[0]
    return _number(span) if _number(span) is not None else -1  # type: ignore[return-value]


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) < 16 else None


def _note(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def _remembered(part: Path) -> Version | None:
    try:
        return Version(**json.loads(_note(part).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _forget(target: Path) -> None:
    part = target.with_name(target.name + ".part")
    for path in (part, _note(part)):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _refuse_full_disk(target: Path, more: int | None) -> None:
    free = shutil.disk_usage(target.parent).free
    if more is not None and more + _SPARE_BYTES > free:
        raise InputError(f"{target}: {more} bytes to come and {free} free; free some space, or choose another disk with --out")


def sha256_of(path: Path) -> str:
    """The checksum of a file, read piece by piece."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
