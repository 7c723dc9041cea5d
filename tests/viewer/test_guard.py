"""Who may ask for what: other sites, other names, other files, too much, nonsense."""

import json
import os
import socket
import threading

import pytest

from crosstask.viewer.guard import LARGEST_BODY, is_own_host
from crosstask.viewer.serving import listen_on
from viewer.viewed import FIRST, HERE, app_of, client_of, write_viewed_run

MARK = {**FIRST, "relevance": "relevant"}


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8765", "", "127.0.0.1@evil.example", "[::1", "a/b", "x:99999999"]
)
def test_a_name_that_is_not_ours_is_refused(client, host):
    for path in ("/", "/api/run", "/media"):
        assert client.get(path, headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:1", "[::1]:8765", "LOCALHOST"])
def test_our_own_names_are_answered(client, host):
    assert client.get("/api/run", headers={"host": host}).status_code == 200


def test_listening_everywhere_takes_addresses_but_no_foreign_names():
    assert is_own_host("10.0.0.7:80", "0.0.0.0") and is_own_host(socket.gethostname(), "0.0.0.0")
    assert not is_own_host("evil.example", "0.0.0.0") and not is_own_host("10.0.0.7", "127.0.0.1")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://127.0.0.1:8765.evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_writes_from_elsewhere_are_refused(client, folder, headers):
    assert client.put("/api/relevance", json=MARK, headers=headers).status_code == 403
    assert not (folder / "relevance.json").exists()


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])
def test_what_a_foreign_form_can_send_is_no_write(client, folder, kind):
    answer = client.put("/api/relevance", content=json.dumps(MARK), headers={"content-type": kind})
    assert answer.status_code == 415 and not (folder / "relevance.json").exists()


def test_our_own_page_may_write_and_no_preflight_is_granted(client):
    headers = {"origin": HERE, "sec-fetch-site": "same-origin"}
    assert client.put("/api/relevance", json=MARK, headers=headers).status_code == 200
    asked = {"origin": "http://evil.example", "access-control-request-method": "PUT"}
    answer = client.options("/api/relevance", headers=asked)
    assert answer.status_code >= 400 and "access-control-allow-origin" not in answer.headers


def test_bodies_have_a_limit_and_announce_their_length(client):
    large = b" " * (LARGEST_BODY + 1)
    headers = {"content-type": "application/json"}
    assert client.put("/api/relevance", content=large, headers=headers).status_code == 413

    def chunks():
        yield b"x"
        pytest.fail("the rest of a body in chunks is read")

    answer = client.put("/api/relevance", content=chunks(), headers=headers)
    assert answer.status_code == 411 and answer.headers["connection"] == "close"


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 200_000, b'{"task": "\\ud800", "video": 3}', b'{"spans": NaN}'],
)
@pytest.mark.parametrize("path", ["/api/relevance", "/api/annotation"])
def test_invalid_bodies_give_a_client_error(client, path, body):
    answer = client.put(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code in {400, 422} and "detail" in answer.json()


def test_every_response_has_the_security_headers(client):
    for path in ("/", "/main.js", "/api/run", "/nothing", "/media"):
        headers = client.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"] and "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "path",
    [
        "/run.json",
        "/../run.json",
        "/%2e%2e/run.json",
        "/..%2f..%2fetc/passwd",
        "//etc/passwd",
        "/page/../app.py",
        "/docs",
        "/redoc",
        "/model.safetensors",
        "/scores/supervised/1_-v1_0.npy",
        "/%00",
        "/.annotations.lock",
    ],
)
def test_only_the_page_is_served_by_name(client, path):
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "video", ["../run.json", "..", ".", "/etc/passwd", "-v1_0/../-v1_1", "-v1_0\x00", "%2e%2e", "-V1_0", "x" * 200]
)
def test_odd_ids_name_no_video(client, folder, video):
    asked = {"task": "1", "video": video}
    assert client.get("/api/video", params=asked).status_code == 404
    assert client.get("/media", params=asked).status_code == 404
    assert client.put("/api/annotation", json={**asked, "spans": []}).status_code == 404
    assert client.put("/api/relevance", json={**asked, "relevance": "relevant"}).status_code == 404
    assert not (folder / "annotations").exists()


def with_media(tmp_path, media):
    folder = tmp_path / "run"
    folder.mkdir(exist_ok=True)
    return client_of(write_viewed_run(folder, media={"-v1_0": media}))


def test_a_video_is_served_whole_and_in_ranges(tmp_path):
    data = bytes(range(256)) * 40
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a b.mp4").write_bytes(data)
    client = with_media(tmp_path, "a b.mp4")
    whole = client.get("/media", params=FIRST)
    assert whole.content == data and whole.headers["content-type"] == "video/mp4" and whole.headers["accept-ranges"] == "bytes"
    part = client.get("/media", params=FIRST, headers={"range": "bytes=100-199"})
    assert part.status_code == 206 and part.content == data[100:200]
    assert part.headers["content-range"] == f"bytes 100-199/{len(data)}"
    assert client.get("/media", params=FIRST, headers={"range": "bytes=-10"}).content == data[-10:]
    assert client.get("/media", params=FIRST, headers={"range": f"bytes={len(data)}-"}).status_code == 416
    for odd in ("bytes=a-b", "bytes=5-2", "lines=1-2", "bytes=" + "0-1," * 500 + "0-1"):
        assert client.get("/media", params=FIRST, headers={"range": odd}).status_code in {200, 206, 400, 416}
    assert client.head("/media", params=FIRST).status_code == 200
    assert client.get("/api/video", params=FIRST).json()["media"] is True


@pytest.mark.parametrize("media", ["../secret.mp4", "link.mp4", "inner/deep.mp4", "run.json", "/etc/passwd", "missing.mp4", "."])
def test_media_that_leads_out_of_the_run_is_not_served(tmp_path, media):
    (tmp_path / "secret.mp4").write_bytes(b"secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "deep.mp4").write_bytes(b"secret")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "link.mp4").symlink_to(tmp_path / "secret.mp4")
    (tmp_path / "run" / "inner").symlink_to(tmp_path / "outside")
    client = with_media(tmp_path, media)
    assert client.get("/media", params=FIRST).status_code == 404
    assert client.get("/api/video", params=FIRST).json()["media"] is False


def test_an_absolute_name_is_served_only_as_a_video(tmp_path):
    (tmp_path / "film.webm").write_bytes(b"film")
    assert with_media(tmp_path, str(tmp_path / "film.webm")).get("/media", params=FIRST).content == b"film"
    (tmp_path / "notes.mp4").symlink_to("/etc/passwd")
    assert with_media(tmp_path, str(tmp_path / "notes.mp4")).get("/media", params=FIRST).status_code == 404


def test_links_out_of_the_run_are_neither_read_nor_written_through(tmp_path, folder, client):
    outside = tmp_path / "outside"
    outside.mkdir()
    (folder / "annotations").symlink_to(outside)
    assert client.get("/api/video", params=FIRST).status_code == 409
    answer = client.put("/api/annotation", json={**FIRST, "spans": []})
    assert answer.status_code == 409 and "out of the run" in answer.json()["detail"]
    assert list(outside.iterdir()) == []
    (folder / "annotations").unlink()
    scores = folder / "scores" / "supervised" / "1_-v1_0.npy"
    scores.rename(outside / "s.npy")
    scores.symlink_to(outside / "s.npy")
    assert client.get("/api/scores", params={**FIRST, "source": "this:supervised"}).json() == {"scores": None}


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_reported(client, folder):
    folder.chmod(0o500)
    try:
        answer = client.put("/api/relevance", json=MARK)
    finally:
        folder.chmod(0o700)
    assert answer.status_code == 409 and "cannot be written" in answer.json()["detail"]


def test_the_server_survives_invalid_requests(folder):
    import uvicorn

    bound = listen_on("127.0.0.1", 0)
    port = bound.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app_of(folder), log_level="critical", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    host = f"Host: 127.0.0.1:{port}\r\n".encode()
    garbage = [
        b"\x00\xff\x16\x03\x01" * 50,
        b"GET /../../etc/passwd HTTP/1.1\r\n" + host + b"\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + host + host + b"\r\n",
        b"PUT /api/relevance HTTP/1.1\r\n" + host + b"Content-Type: application/json\r\nContent-Length: -5\r\n\r\n",
        b"PUT /api/relevance HTTP/1.1\r\n" + host + b"Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + host + b"\r\n",
        b"BREW / HTTP/9.9\r\n\r\n",
    ]
    chunked = b"PUT /api/relevance HTTP/1.1\r\n" + host + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    try:
        with socket.create_connection(
            ("127.0.0.1", port), timeout=240
        ) as wire:  # the connection ends at the first of endless chunks
            wire.sendall(chunked)
            with pytest.raises(ConnectionError):
                for _ in range(1000):
                    wire.sendall(b"1\r\nx\r\n" * 1000)
        for piece in garbage:
            with socket.create_connection(("127.0.0.1", port), timeout=240) as wire:
                wire.sendall(piece)
        with socket.create_connection(("127.0.0.1", port), timeout=240) as wire:
            wire.sendall(b"GET /api/run HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n")
            assert wire.recv(20).startswith(b"HTTP/1.1 200")
    finally:
        server.should_exit = True
        thread.join(10)
