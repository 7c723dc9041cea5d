"""Arbitrary bytes and damaged files: a value or an InputError, never another exception, soon, and without much memory."""

import os
import resource
import time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crosstask.records import InputError
from fuzz.readers import READERS

EXAMPLES = int(os.environ.get("CROSSTASK_FUZZ_EXAMPLES", "60"))
BOUNDED = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES <= 60,  # the check is the same every time; a longer search is new every time
    suppress_health_check=list(HealthCheck),
)
SLOW_S = 20.0
LARGE_KB = 300_000


@pytest.fixture(scope="module", params=READERS)
def reader(request, tmp_path_factory):
    """A reader, a folder for its file, and the bytes of a valid one."""
    chosen = READERS[request.param]
    folder = tmp_path_factory.mktemp("fuzz")
    path = folder / chosen.name
    chosen.valid(path)
    chosen.read(path)
    return chosen, path, path.read_bytes()


def survives(reader, path, data):
    """Hand the bytes to the reader."""
    path.write_bytes(data)
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        reader.read(path)
    except InputError as error:
        assert "\n" not in str(error) or len(str(error).splitlines()) < 4
    assert time.perf_counter() - begun < SLOW_S
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < LARGE_KB


DEEP = 100_000


def test_arbitrary_bytes(reader):
    chosen, path, _ = reader

    @BOUNDED
    @given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
    @example(b"")
    @example(b"\0" * 64)
    @example(b"\xff\xfe\0")
    @example(b"[" * DEEP)
    @example(b'{"a":' * DEEP)
    @example(b"a = " + b"[" * DEEP)
    @example(b"9" * 5000 + b",1,2")
    @example(b"\x93NUMPY\x01\0v\0" + b"(" * 118)
    @example(b"\x93NUMPY\x02\0\xff\xff\xff\x7f{'descr': '<f4'")
    @example((2**62).to_bytes(8, "little") + b"{}")
    @example((DEEP).to_bytes(8, "little") + b'{"__metadata__":{"crosstask":"' + b"[" * (DEEP - 40) + b'"}}')
    def run(data):
        survives(chosen, path, data)

    run()


PIECES = [
    b"",
    b"\0",
    b"\n",
    b",",
    b'"',
    b"nan",
    b"1e999",
    b"-1",
    b"9" * 400,
    b"null",
    b"{}",
    b"[]",
    b"true",
    b"..",
    b"/",
    "ü／".encode(),
    b"\xff",
]


def test_damaged_valid_files(reader):
    chosen, path, valid = reader
    places = st.integers(0, len(valid))

    @BOUNDED
    @given(
        st.lists(st.tuples(places, st.integers(0, 12), st.sampled_from(PIECES) | st.binary(max_size=8)), min_size=1, max_size=4)
    )
    def run(edits):
        data = valid
        for at, removed, piece in edits:
            data = data[:at] + piece + data[at + removed :]
        survives(chosen, path, data)

    run()


def test_cut_short(reader):
    chosen, path, valid = reader
    step = max(1, len(valid) // EXAMPLES)
    for length in range(0, len(valid), step):
        survives(chosen, path, valid[:length])
