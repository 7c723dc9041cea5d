"""Well-formed files that say something impossible: a value or an InputError."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.readers import READERS
from fuzz.test_readers import BOUNDED, survives
from fuzz.trees import as_bytes, joined_safetensors, lying, split_safetensors

JSON = ["json cues", "json3", "articles", "pack index", "run", "localizations", "job result"]
SAFETENSORS = ["learned encoder", "paper model", "best model", "checkpoint"]


def valid(name, folder):
    reader, path = READERS[name], folder / READERS[name].name
    reader.valid(path)
    return reader, path, path.read_bytes()


@pytest.mark.parametrize("name", JSON)
def test_json(name, tmp_path):
    reader, path, data = valid(name, tmp_path)

    @BOUNDED
    @given(lying(json.loads(data)))
    def run(tree):
        survives(reader, path, as_bytes(tree))

    run()


@pytest.mark.parametrize("name", SAFETENSORS)
def test_descriptions_in_safetensors(name, tmp_path):
    reader, path, data = valid(name, tmp_path)
    head, description, key, numbers = split_safetensors(data)

    @BOUNDED
    @given(lying(description))
    def run(tree):
        survives(reader, path, joined_safetensors({**head, "__metadata__": {key: json.dumps(tree)}}, numbers))

    run()


@pytest.mark.parametrize("name", SAFETENSORS)
def test_heads_and_numbers_of_safetensors(name, tmp_path):
    reader, path, data = valid(name, tmp_path)
    head, _, _, numbers = split_safetensors(data)

    @BOUNDED
    @given(lying(head), st.sampled_from([b"", b"\xff", b"\x7f\xc0"]))
    def run(tree, fill):
        changed = numbers if not fill else (fill * len(numbers))[: len(numbers)]
        survives(reader, path, joined_safetensors(tree, changed))

    run()
