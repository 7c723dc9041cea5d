import socket
import sys
import time

import pytest

from cli.running import crosstask, refused
from viewer.browser import viewing
from viewer.viewed import write_viewed_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_viewed_run(tmp_path_factory.mktemp("view") / "a run")


def test_the_address_is_one_line_and_answers(run):
    import httpx

    with viewing(run) as address:
        assert address.startswith("http://127.0.0.1:") and address.endswith("/")
        assert httpx.get(address + "api/run").json()["title"] == "A tiny run"
        assert "crosstask viewer" in httpx.get(address).text


def test_mistakes_are_said_in_one_line(run, tmp_path):
    assert "no such folder" in refused("view", tmp_path / "nothing")
    assert "no run.json" in refused("view", tmp_path)
    assert "no such folder" in refused("view", run, "--compare", tmp_path / "nothing")
    assert "no such file" in refused("view", run, "--model", tmp_path / "m.safetensors")
    assert "no address of this machine" in refused("view", run, "--host", "no.such.host.invalid")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"--port {port} on 127.0.0.1" in refused("view", run, "--port", port)


def test_ctrl_c_says_nothing_while_a_browser_still_loads(run, capfd):
    from urllib.parse import urlsplit

    with viewing(run) as address:
        waiting = socket.create_connection((urlsplit(address).hostname, urlsplit(address).port))
        head = "PUT /api/label HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
        waiting.sendall(head.encode())
        time.sleep(0.5)  # the request is being handled
    waiting.close()
    assert capfd.readouterr().err == ""


def test_without_the_extra_its_name_is_said(run, monkeypatch):
    from crosstask.records import MissingExtra
    from crosstask.viewer.serving import viewer_app

    monkeypatch.setitem(sys.modules, "fastapi", None)
    monkeypatch.delitem(sys.modules, "crosstask.viewer.app", raising=False)
    with pytest.raises(MissingExtra, match=r"needs the extra 'serve': .+ -m pip install .+\[serve\]"):
        viewer_app(None, None)


def test_help_has_an_example():
    assert "crosstask view demo" in crosstask("view", "--help").stdout
