"""A video file sent to a player, which may take hours: the file may be replaced or removed meanwhile. Needs the extra 'serve'."""

import logging
from typing import Any

from fastapi.responses import FileResponse
from starlette.types import Message, Receive, Scope, Send

log = logging.getLogger(__name__)


class MediaResponse(FileResponse):
    """A file, or byte ranges of it. If it changes or cannot be read while it is sent, one line is logged and the connection closed."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; see the class."""
        left: int | None = None  # announced bytes that are still to be sent; None before the headers
        finished = False

        async def send_announced(message: Message) -> None:
            nonlocal left, finished
            if left is None:
                left = 0 if scope["method"] == "HEAD" else _content_length(message)
                await send(message)
            elif not finished:
                body = message.get("body", b"")[:left]
                left -= len(body)
                finished = left == 0
                if left and not message.get("more_body", False):
                    raise _FileChanged(f"{left} bytes shorter than it was")
                await send({**message, "body": body, "more_body": not finished})

        try:
            await super().__call__(scope, receive, send_announced)
        except (OSError, _FileChanged) as error:
            if left is None:
                raise
            log.warning("%s changed while it was played (%s); reload the page", self.path, error)


class _FileChanged(Exception):
    """The file has fewer bytes than its headers said."""


def _content_length(message: Message) -> int:
    headers: list[tuple[Any, bytes]] = message.get("headers", [])
    return next((int(value) for name, value in headers if bytes(name).lower() == b"content-length"), 0)
