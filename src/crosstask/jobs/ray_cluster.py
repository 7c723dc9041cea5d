"""Jobs as Ray tasks, on an existing cluster (by address) or a local one. Extra: ray."""

import errno
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from crosstask.jobs.pool import Job, Work, group_by_resource, run_jobs

_CLIENT_PREFIX = "ray://"
_CLIENT_PORT, _CLUSTER_PORT = 10001, 6379  # Ray's defaults
_PROBE_TIMEOUT_S = 5.0  # ours: a cluster in the same network answers within milliseconds
_MAX_RETRIES = 5  # ours: how often a job is given to another worker after its worker died


def run_on_ray(work: Work, jobs: Sequence[Job], folder: Path, workers: int, address: str | None) -> Iterator[str]:
    """The names of jobs as they finish; results are files, so every node needs access to the folder."""
    try:
        import ray
    except ImportError:
        raise ValueError("engine 'ray' needs the extra 'ray': install crosstask[ray]") from None
    started = not ray.is_initialized()
    with redirect_stdout(sys.stderr):  # Ray's messages must not mix with our output
        if started:
            _start(ray, workers, address)
        try:
            task = ray.remote(max_retries=_MAX_RETRIES, num_cpus=1)(run_jobs)
            futures = [task.remote(work, group, folder) for group in group_by_resource(jobs)]
            while futures:
                done, futures = ray.wait(futures, num_returns=1)
                yield from ray.get(done[0])
        finally:
            if started:
                ray.shutdown()


def check_address(address: str) -> None:
    """Raise a ConnectionError if nothing listens at the address of a cluster; Ray itself would wait for minutes without a message.

    'auto' and 'local' are left to Ray. An address `ray://HOST:PORT` needs Ray's client.
    """
    if address in ("auto", "local"):
        return
    if address.startswith(_CLIENT_PREFIX) and find_spec("grpc") is None:
        raise ConnectionError(errno.EPROTONOSUPPORT, "such an address needs Ray's client: pip install 'ray[client]'", address)
    default_port = _CLIENT_PORT if address.startswith(_CLIENT_PREFIX) else _CLUSTER_PORT
    host, _, port = address.removeprefix(_CLIENT_PREFIX).partition("/")[0].rpartition(":")
    host, port = (host, port) if host else (port, str(default_port))
    if not port.isdecimal():
        raise ConnectionError(
            errno.EINVAL, "not the address of a Ray cluster; expected HOST:PORT, ray://HOST:PORT or auto", address
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PROBE_TIMEOUT_S).close()
    except (OSError, OverflowError, UnicodeError) as error:
        reason = f"no Ray cluster can be reached there ({error}); start one with `ray start --head`, or leave out --address"
        raise ConnectionError(errno.ECONNREFUSED, reason, address) from None


def _start(ray: Any, workers: int, address: str | None) -> None:
    if address:
        check_address(address)
        ray.init(address=address, log_to_driver=False)
    else:
        # a cluster of its own, whatever other clusters run on this machine
        ray.init(address="local", num_cpus=max(1, workers), include_dashboard=False, log_to_driver=False, logging_level="error")
