"""The door of the server: who may ask, how much they may send, and what a browser may do with the answer.

A page of another site must neither read nor write here, even when its name is made to point at this machine (DNS rebinding), so the Host
must be a name of ours, writes must be JSON (which a foreign page cannot send unasked) and come from our own origin.
"""

import ipaddress
import json
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY = 1_000_000  # bytes; an annotation of 2000 spans has about a tenth of it
READING = frozenset({"GET", "HEAD"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


def own_name(host: str, bound_to: str) -> bool:
    """Whether a Host header names this server: the address it listens on, or any of the machine's when it listens on all.

    >>> own_name("127.0.0.1:8765", "127.0.0.1"), own_name("localhost:8765", "127.0.0.1"), own_name("evil.example", "127.0.0.1")
    (True, True, False)
    >>> own_name("192.168.1.7:80", "0.0.0.0"), own_name("evil.example", "0.0.0.0")
    (True, False)
    """
    try:
        parts = urlsplit(f"//{host}")
        name, _ = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return False
    if parts.username is not None or parts.path or parts.query or parts.fragment:
        return False
    if name in {"localhost", "127.0.0.1", "::1", bound_to.lower()}:
        return True
    if not _is_wildcard(bound_to):
        return False
    return name == socket.gethostname().lower() or _is_address(name)


def _is_wildcard(host: str) -> bool:
    return host in {"0.0.0.0", "::", ""}


def _is_address(name: str) -> bool:
    """An address written in numbers cannot be rebound by a name server."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """An ASGI app that lets a request through to another, or answers why not."""

    def __init__(self, app: App, bound_to: str) -> None:
        self.app = app
        self.bound_to = bound_to

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope["method"], headers)
        if refusal is not None:
            await _answer(_with_headers(send, scope["path"]), *refusal)
            return
        answer = _with_headers(send, scope["path"])
        if scope["method"] in READING:
            await self.app(scope, receive, answer)
            return
        body = await _whole_body(receive)
        if body is None:
            await _answer(answer, 413, f"the body is larger than {LARGEST_BODY} bytes")
        else:
            await self.app(scope, _replaying(body, receive), answer)

    def _refusal(self, method: str, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not own_name(host, self.bound_to):
            return 403, "this server answers only to the address it was started on"
        if method in READING:
            return None
        origin = headers.get("origin")
        if origin is not None and urlsplit_netloc(origin) != host.lower():
            return 403, "writing from another site is refused"
        if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            return 403, "writing from another site is refused"
        if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            return 415, "expected a body of type application/json"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > LARGEST_BODY:
            return 413, f"the body is larger than {LARGEST_BODY} bytes"
        return None


async def _whole_body(receive: Receive) -> bytes | None:
    """The body, or None once it has grown past the limit, whatever length was announced."""
    parts: list[bytes] = []
    more = True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        if sum(map(len, parts)) > LARGEST_BODY:
            return None
        more = message["type"] == "http.request" and message.get("more_body", False)
    return b"".join(parts)


def _replaying(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives a body already read, then goes on listening."""
    given = False

    async def replay() -> MutableMapping[str, Any]:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def urlsplit_netloc(origin: str) -> str:
    """Host and port of an origin, lower case; '' for 'null' and nonsense.

    >>> urlsplit_netloc("http://127.0.0.1:8765"), urlsplit_netloc("null")
    ('127.0.0.1:8765', '')
    """
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _with_headers(send: Send, path: str) -> Send:
    """A `send` that adds what browsers are told about every answer."""
    added = {**HEADERS, "cache-control": "no-store" if path.startswith("/api") else "no-cache"}

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = [(name.encode(), value.encode()) for name, value in added.items()]
            message = {**message, "headers": [*message.get("headers", []), *own]}
        await send(message)

    return sending


async def _answer(send: Send, status: int, detail: str) -> None:
    body = json.dumps({"detail": detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
