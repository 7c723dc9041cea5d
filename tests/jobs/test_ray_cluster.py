import socket

import pytest

from crosstask.jobs import ray_cluster
from crosstask.jobs.ray_cluster import check_address


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize("prefix", ["", "ray://"])
def test_an_address_where_nothing_listens_is_an_error_at_once(prefix, monkeypatch):
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: object())
    with pytest.raises(ConnectionError, match="no Ray cluster can be reached there") as caught:
        check_address(f"{prefix}127.0.0.1:{free_port()}")
    assert caught.value.filename.startswith(prefix) and "ray start --head" in caught.value.strerror


def test_a_client_address_without_the_client_names_the_extra(monkeypatch):
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: None)
    with pytest.raises(ConnectionError, match=r"ray\[client\]"):
        check_address("ray://127.0.0.1:1")


def test_an_address_where_something_listens_is_left_to_ray():
    with socket.create_server(("127.0.0.1", 0)) as server:
        check_address(f"127.0.0.1:{server.getsockname()[1]}")
    check_address("auto")


def test_an_address_without_a_port_number_is_an_error():
    with pytest.raises(ConnectionError, match="expected HOST:PORT"):
        check_address("127.0.0.1:abc")
