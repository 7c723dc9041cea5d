"""Folders of sentence encoders that are damaged or hostile; the packaged model is tested with narration."""

import json
import pickle

import pytest

from crosstask.records import InputError
from crosstask.text.encoders.sentence import SentenceEncoder

pytest.importorskip("sentence_transformers")
CONFIG = {
    "model_type": "bert",
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
    "intermediate_size": 8,
    "vocab_size": 7,
}


@pytest.fixture
def folder(tmp_path):
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    for name, content in {
        "modules.json": modules,
        "sentence_bert_config.json": {},
        "config_sentence_transformers.json": {"__version__": {"sentence_transformers": "3.0.0"}},
        "config.json": CONFIG,
    }.items():
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\npour\nmilk\n")
    return tmp_path


class Hostile:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("damage", ["pickle", "weights", "modules", "own code"])
def test_a_damaged_or_hostile_folder_is_one_line_and_runs_nothing(folder, tmp_path, damage):
    mark = tmp_path / "ran"
    if damage == "pickle":
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"a": Hostile(mark)}))
    elif damage == "weights":
        (folder / "model.safetensors").write_bytes(bytes(range(256)) * 4)
    elif damage == "modules":
        (folder / "modules.json").write_text('{"a": 1}')
    else:
        (folder / "modules.json").write_text('[{"idx": 0, "name": "0", "path": "", "type": "evil.Evil"}]')
        (folder / "evil.py").write_text(f"open({str(mark)!r}, 'w')\n")
    with pytest.raises(InputError, match=r"cannot be loaded .*expected a sentence-transformers folder") as error:
        SentenceEncoder(folder).encode(["pour milk"])
    assert "\n" not in str(error.value) and not mark.exists()
