import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")

from viewer.viewed import client_of, write_viewed_run


@pytest.fixture
def folder(tmp_path):
    return write_viewed_run(tmp_path / "run")


@pytest.fixture
def client(folder):
    return client_of(folder)
