import os

import pytest


@pytest.fixture(scope="session")
def warm():
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    from faults.warm import warm_process

    with warm_process() as process:
        yield process
