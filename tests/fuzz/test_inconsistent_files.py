"""Well-formed files with impossible values: readers return a value or raise InputError."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load, save

from crosstask.storage import with_content_digest
from fuzz.json_mutations import join_safetensors, mutated, split_safetensors, to_json_bytes
from fuzz.readers import READERS
from fuzz.test_readers import bounded, check_reader

JSON = [
    "label detections",
    "label regions",
    "json cues",
    "json3",
    "articles",
    "pack index",
    "run",
    "localizations",
    "job result",
    "relevance",
    "transcript",
]
SAFETENSORS = ["learned encoder", "paper model", "best model", "checkpoint"]


def valid(name, folder):
    reader, path = READERS[name], folder / READERS[name].name
    reader.valid(path)
    return reader, path, path.read_bytes()


@pytest.mark.parametrize("name", JSON)
def test_json(name, tmp_path):
    reader, path, data = valid(name, tmp_path)

    @bounded(reader)
    @given(mutated(json.loads(data)))
    def run(tree):
        check_reader(reader, path, to_json_bytes(tree))

    run()


@pytest.mark.parametrize("name", SAFETENSORS)
def test_descriptions_in_safetensors(name, tmp_path):
    reader, path, data = valid(name, tmp_path)
    head, description, key, numbers = split_safetensors(data)
    arrays = load(data)

    @bounded(reader)
    @given(mutated(description))
    def run(tree):
        if isinstance(tree, dict):  # with a digest that fits, or else every change would be refused by the digest alone
            tree = with_content_digest(tree, arrays)
        check_reader(reader, path, join_safetensors({**head, "__metadata__": {key: json.dumps(tree)}}, numbers))

    run()


@pytest.mark.parametrize("name", SAFETENSORS)
def test_heads_and_numbers_of_safetensors(name, tmp_path):
    reader, path, data = valid(name, tmp_path)
    head, _, _, numbers = split_safetensors(data)

    @bounded(reader)
    @given(mutated(head), st.sampled_from([b"", b"\xff", b"\x7f\xc0"]))
    def run(tree, filler):
        changed = numbers if not filler else (filler * len(numbers))[: len(numbers)]
        check_reader(reader, path, join_safetensors(tree, changed))

    run()


BENDS = {
    "empty": lambda a: a[:0],
    "flat": lambda a: a.reshape(-1),
    "NaN": lambda a: np.full_like(a, np.nan),
    "huge": lambda a: np.full_like(a, np.finfo(a.dtype).max),
    "zero": np.zeros_like,
    "negative": lambda a: -a,
    "one row more": lambda a: np.concatenate([a, a[:1]]),
    "float64": lambda a: a.astype(np.float64),
}


@pytest.mark.parametrize("bend", BENDS)
@pytest.mark.parametrize("name", SAFETENSORS)
def test_arrays_with_a_digest_that_fits(name, bend, tmp_path):
    reader, path, data = valid(name, tmp_path)
    _, description, key, _ = split_safetensors(data)
    arrays = load(data)
    for bent in (one for one in arrays if arrays[one].dtype.kind == "f" and arrays[one].ndim):
        changed = {**arrays, bent: np.ascontiguousarray(BENDS[bend](arrays[bent]))}
        check_reader(reader, path, save(changed, {key: json.dumps(with_content_digest(description, changed))}))
