"""Resumable download of one file over HTTP; the file appears under its name only when its length is complete.

Bytes are appended to `FILE.part`; `FILE.part.json` records the version it is a part of (ETag or date, and length). If the server ignores
ranges or has another version now, the download starts again. Only http and https are followed, also in redirects.
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
from ssl import SSLError
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from crosstask.records import InputError
from crosstask.storage import MAX_SMALL_BYTES, read_text, write_json

_CHUNK_BYTES = 256 * 1024
_CHECK_EVERY_BYTES = 2**20  # of a file whose length is not stated: how often the free space is checked
_SPARE_BYTES = 64 * 2**20  # left free on the disk
_TOO_MANY_REQUESTS, _RANGE_NOT_SATISFIABLE, _PARTIAL_CONTENT = 429, 416, 206  # HTTP status codes
Progress = Callable[[int, int | None], None]  # bytes so far, length if known


@dataclass(frozen=True)
class RetryPolicy:
    """Timeout, number of attempts, and a limit on the size."""

    timeout_s: float = 30.0  # without receiving a byte
    attempts: int = 5
    pause_s: float = 1.0  # before the second attempt, then doubled
    max_bytes: int = 200 * 10**9  # of a file whose length the server does not state


@dataclass(frozen=True)
class Version:
    """The version of a file on a server; length is None where the server does not state it."""

    tag: str
    length: int | None


class _HttpRedirects(HTTPRedirectHandler):
    """Follows redirects to http and https only."""

    def redirect_request(self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        """The next request, or an error."""
        require_http(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def require_http(address: str) -> str:
    """The address itself, or an error if it is not http or https.

    >>> require_http("https://example.org/a.zip")
    'https://example.org/a.zip'
    """
    try:
        parts = urlsplit(address)
    except ValueError:  # for example an IPv6 address without its closing bracket
        raise InputError(f"address {address[:200]!r} is malformed; expected http:// or https://") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"address {address[:200]!r} is not a web address; expected http:// or https://")
    return address


def content_length(address: str, policy: RetryPolicy) -> int | None:
    """The length of a file in bytes as stated by the server; None if it is not stated or the server cannot be reached."""
    try:
        with _open(Request(require_http(address), method="HEAD"), policy) as response:
            return _number(response.headers.get("Content-Length"))
    except (OSError, HTTPException, ValueError):
        return None


def fetch_file(address: str, target: Path, policy: RetryPolicy, progress: Progress = lambda done, total: None) -> Path:
    """Download the whole file to `target` and return it; after an interruption the next call resumes."""
    require_http(address)
    target.parent.mkdir(parents=True, exist_ok=True)
    problem = ""
    for attempt in range(policy.attempts):
        if attempt:
            time.sleep(policy.pause_s * 2 ** (attempt - 1))
        try:
            _download_rest(address, target, policy, progress)
            return target
        except HTTPError as error:
            problem = f"the server responds {error.code} {error.reason}"
            if error.code == _RANGE_NOT_SATISFIABLE:
                discard_part(target)
            elif error.code < 500 and error.code != _TOO_MANY_REQUESTS:
                break
        except InputError:
            raise
        except ValueError as error:  # urllib parses an address, also that of a redirect, before it asks for it
            problem = f"the address, or one that the server redirects to, is malformed ({error})"
            break
        except (URLError, HTTPException, TimeoutError, ConnectionError, SSLError, _Incomplete) as error:
            problem = str(getattr(error, "reason", "") or error) or type(error).__name__
    raise InputError(
        f"{address}: not downloaded ({' '.join(problem.split())}); repeat the command to resume, or name a mirror with --from"
    )


class _Incomplete(Exception):
    """The connection ended before the file did."""


def _download_rest(address: str, target: Path, policy: RetryPolicy, progress: Progress) -> None:
    """One attempt: append the missing bytes, or start again if the server has another version."""
    part = target.with_name(target.name + ".part")
    if part.is_symlink():  # would be followed
        discard_part(target)
    recorded, n_bytes = _recorded_version(part), part.stat().st_size if part.exists() else 0
    request = Request(address)
    if recorded is not None and recorded.tag and n_bytes:
        request.add_header("Range", f"bytes={n_bytes}-")
        request.add_header("If-Range", recorded.tag)
    with _open(request, policy) as response:
        first = _first_byte(response) if response.status == _PARTIAL_CONTENT else 0
        version = _version(response)
        if response.status == _PARTIAL_CONTENT and (first != n_bytes or recorded is None or version != recorded):
            discard_part(target)
            raise _Incomplete("the file on the server has changed")
        _refuse_full_disk(target, None if version.length is None else version.length - first)
        if not first:
            discard_part(target)  # before the new version is recorded: bytes of the old one must not be taken for a part of it
        write_json(_version_file(part), asdict(version))
        try:
            with part.open("ab" if first else "wb") as file:
                done = _append(response, file, first, version.length, policy, progress)
        except InputError:  # the disk would be full; without a length the download could not resume
            discard_part(target)
            raise
    if version.length is not None and done != version.length:
        raise _Incomplete(f"{done} of {version.length} bytes received")
    if done == 0:
        raise _Incomplete("no bytes received")
    part.replace(target)
    _version_file(part).unlink(missing_ok=True)


def _append(
    response: HTTPResponse, file: IO[bytes], done: int, length: int | None, policy: RetryPolicy, progress: Progress
) -> int:
    """The length of the file in bytes after the body of the response was appended."""
    try:
        while chunk := response.read1(_CHUNK_BYTES):
            done += len(chunk)
            if done > (policy.max_bytes if length is None else length):
                raise _Incomplete("more bytes received than announced")
            if length is None and done // _CHECK_EVERY_BYTES > (done - len(chunk)) // _CHECK_EVERY_BYTES:
                _refuse_full_disk(Path(file.name), _CHECK_EVERY_BYTES)
            file.write(chunk)
            progress(done, length)
    finally:
        file.flush()
        os.fsync(file.fileno())
    return done


@contextmanager
def _open(request: Request, policy: RetryPolicy) -> Iterator[HTTPResponse]:
    request.add_header("User-Agent", "crosstask")
    request.add_header("Accept-Encoding", "identity")
    with build_opener(_HttpRedirects).open(request, timeout=policy.timeout_s) as response:
        yield response


def _version(response: HTTPResponse) -> Version:
    tag = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
    if response.status == _PARTIAL_CONTENT:
        total = (response.headers.get("Content-Range") or "").rpartition("/")[2]
        return Version(tag, _number(total))
    return Version("" if tag.startswith("W/") else tag, _number(response.headers.get("Content-Length")))


def _first_byte(response: HTTPResponse) -> int:
    """The position of the first byte in the Content-Range header; -1 if it is not stated."""
    first = _number((response.headers.get("Content-Range") or "").removeprefix("bytes ").partition("-")[0])
    return -1 if first is None else first


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) < 16 else None


def _version_file(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def _recorded_version(part: Path) -> Version | None:
    try:
        return Version(**json.loads(read_text(_version_file(part), max_bytes=MAX_SMALL_BYTES)))
    except (OSError, ValueError, TypeError):
        return None


def discard_part(target: Path) -> None:
    """Remove what is left of an unfinished download of a file."""
    part = target.with_name(target.name + ".part")
    for path in (part, _version_file(part)):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _refuse_full_disk(target: Path, more: int | None) -> None:
    free = shutil.disk_usage(target.parent).free
    if more is not None and more + _SPARE_BYTES > free:
        raise InputError(
            f"{target}: {more} bytes to download and {free} free; free some space, or choose another disk with --out"
        )


def sha256_of(path: Path) -> str:
    """The SHA-256 checksum of a file, read in chunks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
