import pytest


@pytest.fixture
def folder(tmp_path):
    from viewer.viewed import write_viewed_run

    return write_viewed_run(tmp_path / "run")


@pytest.fixture
def client(folder):
    from viewer.viewed import client_of

    return client_of(folder)
