"""Checks on every request before it reaches the app: its origin, its size; and security headers on every response.

A page of another site must neither read nor write here, even if its name resolves to this machine (DNS rebinding). So the Host header
must name this server, and writes must be JSON (which another site cannot send without a preflight request) from our own origin.
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

LARGEST_BODY = 1_000_000  # bytes; an annotation of 2000 intervals has about a tenth of it
READ_METHODS = frozenset({"GET", "HEAD"})
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


def is_own_host(host: str, bound_to: str) -> bool:
    """True if a Host header names this server: the address it listens on, or any address of the machine if it listens on all.

    >>> is_own_host("127.0.0.1:8765", "127.0.0.1"), is_own_host("localhost:8765", "127.0.0.1"), is_own_host("evil.example", "127.0.0.1")
    (True, True, False)
    >>> is_own_host("192.168.1.7:80", "0.0.0.0"), is_own_host("evil.example", "0.0.0.0")
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
    """True for a numeric address, which DNS rebinding cannot redirect."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """An ASGI app that passes a request to another app, or responds with the reason why it does not."""

    def __init__(self, app: App, bound_to: str) -> None:
        self.app = app
        self.bound_to = bound_to

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        error = self._error(scope["method"], headers)
        if error is not None:
            await _respond(_with_headers(send, scope["path"]), *error)
            return
        await self.app(scope, receive, _with_headers(send, scope["path"]))

    def _error(self, method: str, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if not is_own_host(host, self.bound_to):
            return 403, "this server responds only to the address it was started on"
        if method in READ_METHODS:
            return None
        origin = headers.get("origin")
        if origin is not None and netloc_of(origin) != host.lower():
            return 403, "writing from another site is refused"
        if headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
            return 403, "writing from another site is refused"
        if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            return 415, "expected a body of type application/json"
        length = headers.get("content-length")
        if (
            length is None or "transfer-encoding" in headers
        ):  # a page sends the length; parsing a body of tiny chunks stalls the server
            return 411, "expected a body whose length is announced (Content-Length)"
        if not length.isdecimal() or int(length[:20]) > LARGEST_BODY:
            return 413, f"the body is larger than {LARGEST_BODY} bytes"
        return None


def netloc_of(origin: str) -> str:
    """Host and port of an origin, lower case; '' for 'null' and invalid origins.

    >>> netloc_of("http://127.0.0.1:8765"), netloc_of("null")
    ('127.0.0.1:8765', '')
    """
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _with_headers(send: Send, path: str) -> Send:
    """A `send` that adds the security headers to every response."""
    added = {**SECURITY_HEADERS, "cache-control": "no-store" if path.startswith("/api") else "no-cache"}

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = [(name.encode(), value.encode()) for name, value in added.items()]
            message = {**message, "headers": [*message.get("headers", []), *own]}
        await send(message)

    return sending


async def _respond(send: Send, status: int, detail: str) -> None:
    body = json.dumps({"detail": detail}).encode()
    length = str(len(body)).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", length),
        (b"connection", b"close"),
    ]  # the rest is not read
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
