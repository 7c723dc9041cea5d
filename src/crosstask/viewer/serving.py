"""Start the server on one address. FastAPI and uvicorn are the extra 'serve'."""

import asyncio
import gc
import logging
import signal
import socket
import threading
from collections.abc import Callable
from typing import Any

from crosstask.records import InputError, MissingExtra
from crosstask.runs import RunFolder
from crosstask.viewer.backend import ViewerBackend
from crosstask.viewer.contents import Contents
from crosstask.viewer.guard import App, Guard


def viewer_app(run: RunFolder, backend: ViewerBackend, other: RunFolder | None = None, bound_to: str = "127.0.0.1") -> App:
    """The viewer of a run as an ASGI app; localizations are read and counted now, so that the first page loads without delay."""
    try:
        from crosstask.viewer.app import make_app
    except ImportError:
        raise MissingExtra("view", "serve") from None
    for opened in (run, other):
        if opened is not None:
            opened.counts()
    app = Guard(make_app(Contents(run, backend, other)), bound_to)
    gc.freeze()  # a large run is millions of objects: looking through them for garbage would take longer than most answers
    return app


def listen_on(host: str, port: int) -> socket.socket:
    """A socket bound to the address; port 0 takes a free one."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # With the protocol given, asyncio sets TCP_NODELAY and sends responses without delay.
        bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    except (OSError, OverflowError):
        raise InputError(f"--host {host}: no address of this machine; expected e.g. 127.0.0.1") from None
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(128)  # connections before the server is up wait instead of being refused
    except (OSError, OverflowError) as error:
        bound.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"--port {port} on {host}: {reason}; choose another, e.g. --port {min(port + 1, 65535)}") from None
    return bound


def address_of(bound: socket.socket) -> str:
    """The URL of the server for a browser.

    >>> bound = listen_on("127.0.0.1", 0); address_of(bound).startswith("http://127.0.0.1:"); bound.close()
    True
    """
    host, port = bound.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def serve(app: App, host: str, port: int, ready: Callable[[str], Any]) -> None:
    """Serve until interrupted; `ready` is called with the URL once the port is bound."""
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra("view", "serve") from None
    bound = listen_on(host, port)
    logging.getLogger("uvicorn.error").addFilter(_is_no_cut_response)
    logging.getLogger("asyncio").addFilter(_is_no_refused_connection)
    _end_when_the_terminal_closes()
    config = uvicorn.Config(app, log_level="error", access_log=False, server_header=False, timeout_graceful_shutdown=2, ws="none")
    ready(address_of(bound))
    try:
        uvicorn.Server(config).run(sockets=[bound])
    except KeyboardInterrupt:
        pass
    finally:
        bound.close()


def _end_when_the_terminal_closes() -> None:
    """End as on Ctrl-C, with what is still to be written; not under `nohup`, which ignores the signal."""
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is None or threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(hangup) == signal.SIG_DFL:
        signal.signal(hangup, lambda number, frame: signal.raise_signal(signal.SIGTERM))


def _is_no_cut_response(record: logging.LogRecord) -> bool:
    """False for what uvicorn logs of responses that end early: by Ctrl-C, with a traceback, or as the video changed, which `MediaResponse` logs."""
    error = record.exc_info[1] if record.exc_info else None
    message = record.getMessage()
    return not (isinstance(error, asyncio.CancelledError) or message.startswith(("Cancel ", "ASGI callable returned without")))


def _is_no_refused_connection(record: logging.LogRecord) -> bool:
    """False for what asyncio logs, thousands of times a second, while there are more connections than files may be open."""
    return "socket.accept() out of system resource" not in record.getMessage()
