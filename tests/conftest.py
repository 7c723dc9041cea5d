"""Fixtures for everyone: the real data where it is at hand, tiny corpora elsewhere."""

import logging
import os
import random
import signal
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("crosstask", deadline=None)  # no test depends on the speed of the machine
settings.load_profile("crosstask")

os.environ["CROSSTASK_WORDS_ONLY"] = (
    "1"  # also for child processes: loading the sentence encoder takes seconds; its own tests unset it
)


def pytest_addoption(parser):
    parser.addoption(
        "--random-order", metavar="SEED", help="run files, and the tests of a file, in an order drawn from this seed"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Put the tests in a random order, the same one in every process of xdist; tests of a file stay together."""
    seed = config.getoption("--random-order")
    if seed is not None:
        files = sorted({item.path for item in items})
        place = dict(zip(files, random.Random(f"files {seed}").sample(range(len(files)), len(files)), strict=True))
        random.Random(f"tests {seed}").shuffle(items)
        items.sort(key=lambda item: place[item.path])


@pytest.fixture(autouse=True)
def messages_reach_pytest():
    """A verb that runs in the process of the tests takes over the package's log; the next test gets it back."""
    yield
    logger = logging.getLogger("crosstask")
    logger.handlers, logger.propagate = [], True
    logger.setLevel(logging.NOTSET)


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # of a shell that runs the tests in the background: some tests send Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data; tests that need it skip, saying so, where CROSSTASK_DATA is not set."""
    folder = os.environ.get("CROSSTASK_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("CROSSTASK_DATA is not set: no real data here")
    return Path(folder)


@pytest.fixture(scope="session")
def real_release(real_data: Path):
    from crosstask import open_corpus

    return open_corpus(real_data / "crosstask")
