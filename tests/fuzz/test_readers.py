"""Arbitrary bytes and damaged files: readers return a value or raise InputError, quickly and without much memory."""

import os
import resource
import time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crosstask.records import InputError
from fuzz.readers import READERS

EXAMPLES = int(os.environ.get("CROSSTASK_FUZZ_EXAMPLES", "60"))


def examples_of(reader):
    """How many examples a reader gets: a tenth, but 60 at least, where each example opens a run in the viewer."""
    return min(EXAMPLES, max(60, EXAMPLES // 10)) if reader is not None and reader.opens_viewer else EXAMPLES


def bounded(reader=None):
    """The settings of a search; the default one is reproducible, a longer one uses new examples every time."""
    n = examples_of(reader)
    return settings(max_examples=n, deadline=None, derandomize=EXAMPLES <= 60, suppress_health_check=list(HealthCheck))


MAX_SECONDS = 20.0  # of computing, so that a busy machine changes nothing
MAX_EXTRA_MEMORY_KB = 300_000


@pytest.fixture(scope="module", params=READERS)
def reader(request, tmp_path_factory):
    """A reader, the path of its file, and the bytes of a valid one."""
    chosen = READERS[request.param]
    folder = tmp_path_factory.mktemp("fuzz")
    path = folder / chosen.name
    chosen.valid(path)
    chosen.read(path)
    return chosen, path, path.read_bytes()


def check_reader(reader, path, data):
    """Read the bytes; fail on any exception but InputError, on slow reading, and on large memory use."""
    path.write_bytes(data)
    begun, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        reader.read(path)
    except InputError as error:
        assert "\n" not in str(error) or len(str(error).splitlines()) < 4
    assert time.process_time() - begun < MAX_SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MAX_EXTRA_MEMORY_KB


NESTING_DEPTH = 100_000


def test_arbitrary_bytes(reader):
    chosen, path, _ = reader

    @bounded(chosen)
    @given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
    @example(b"")
    @example(b"\0" * 64)
    @example(b"\xff\xfe\0")
    @example(b"[" * NESTING_DEPTH)
    @example(b'{"a":' * NESTING_DEPTH)
    @example(b"a = " + b"[" * NESTING_DEPTH)
    @example(b"9" * 5000 + b",1,2")
    @example(b'"' + b"a" * 200_000 + b'",1,2')
    @example(b"\x93NUMPY\x01\0v\0" + b"(" * 118)
    @example(b"\x93NUMPY\x02\0\xff\xff\xff\x7f{'descr': '<f4'")
    @example((2**62).to_bytes(8, "little") + b"{}")
    @example((NESTING_DEPTH).to_bytes(8, "little") + b'{"__metadata__":{"crosstask":"' + b"[" * (NESTING_DEPTH - 40) + b'"}}')
    def run(data):
        check_reader(chosen, path, data)

    run()


INSERTED_BYTES = [
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
    paths_in_tree = st.integers(0, len(valid))

    @bounded(chosen)
    @given(
        st.lists(
            st.tuples(paths_in_tree, st.integers(0, 12), st.sampled_from(INSERTED_BYTES) | st.binary(max_size=8)),
            min_size=1,
            max_size=4,
        )
    )
    def run(edits):
        data = valid
        for at, removed, piece in edits:
            data = data[:at] + piece + data[at + removed :]
        check_reader(chosen, path, data)

    run()


def test_truncated_files(reader):
    chosen, path, valid = reader
    step = max(1, len(valid) // examples_of(chosen))
    for length in range(0, len(valid), step):
        check_reader(chosen, path, valid[:length])
