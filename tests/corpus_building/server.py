"""A server on this machine that does to a download what servers do: truncate, stall, redirect, lie, ignore ranges, change their mind."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Misbehaving(BaseHTTPRequestHandler):
    """Serves `server.content` under /plain; each other path misbehaves in the way of its name."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Range")))
        getattr(self, "serve_" + self.path.strip("/").partition("/")[0].replace("-", "_"))()

    def serve_plain(self, stop_after: int | None = None, tag: str = '"one"', ranges: bool = True) -> None:
        content, asked = self.server.content, self.headers.get("Range")
        first = int(asked[6:-1]) if asked and ranges and self.headers.get("If-Range") == tag else 0
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(content) - first))
        self.end_headers()
        self.wfile.write(content[first:] if stop_after is None else content[first : first + stop_after])
        if stop_after is not None:
            self.close_connection = True

    def serve_truncates(self) -> None:
        self.serve_plain(stop_after=len(self.server.content) // 3 + 1)

    def serve_ignores_ranges(self) -> None:
        self.serve_plain(stop_after=None if len(self.server.asked) > 1 else 1000, ranges=False)

    def serve_changes(self) -> None:
        n = len(self.server.asked)
        if n > 1:
            self.server.content = self.server.second
        self.serve_plain(stop_after=None if n > 1 else 1000, tag=f'"{min(n, 2)}"')

    def serve_malformed_redirect(self) -> None:
        self.send_response(302)
        self.send_header("Location", "http://[::1")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def serve_without_length(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        for _ in range(64):
            self.wfile.write(bytes(2**16))

    def serve_stalls(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"x" * 10)
        self.wfile.flush()
        time.sleep(0.8)
        self.close_connection = True

    def serve_promises_too_much(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.content) + 10))
        self.end_headers()
        self.wfile.write(self.server.content)
        self.close_connection = True

    def serve_promises_too_little(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.content) // 2))
        self.end_headers()
        self.wfile.write(self.server.content)
        self.close_connection = True

    def serve_promises_the_moon(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "900000000000000")
        self.end_headers()
        self.close_connection = True

    def serve_endless(self) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for _ in range(10_000):
                self.wfile.write(b"x" * 10_000)
        except OSError:
            pass
        self.close_connection = True

    def _redirect(self, where: str) -> None:
        self.send_response(302)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def serve_redirects(self) -> None:
        self._redirect("/plain")

    def serve_to_a_file(self) -> None:
        self._redirect("file:///etc/passwd")

    def serve_to_ftp(self) -> None:
        self._redirect("ftp://127.0.0.1:9/x")

    def serve_round(self) -> None:
        self._redirect("/round")

    def serve_gone(self) -> None:
        self.send_error(404)

    def serve_busy(self) -> None:
        if len(self.server.asked) > 1:
            self.serve_plain()
        else:
            self.send_error(503)


@contextmanager
def misbehaving_server(content: bytes, second: bytes = b"") -> Iterator[ThreadingHTTPServer]:
    """A running server; `address` is where it listens, `asked` what it was asked for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Misbehaving)
    server.daemon_threads = True
    server.content, server.second, server.asked = content, second, []
    server.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
