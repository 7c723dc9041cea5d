import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from crosstask.datasets import open_corpus
from crosstask.features.packed_corpus import with_packed_features
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods import zhukov19_checkpoint
from crosstask.methods.training_videos import training_arrays
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.methods.zhukov19_checkpoint import Zhukov19Checkpoint, fingerprint
from crosstask.records import InputError
from crosstask.storage import with_content_digest
from crosstask.text import vocabulary_of
from tiny import tiny_corpus, write_tiny

QUICK = AlternationSettings(learning_rate=0.01, dropout=0.3, initial_epochs=4, epochs=4)


class Killed(Exception):
    """The power went out."""


def stopped_after(epochs, path, corpus=None, settings=QUICK):
    """A checkpoint left behind by a training that died."""

    def die(progress):
        if progress.epochs_done == epochs:
            raise Killed

    with pytest.raises(Killed):
        Zhukov19("component", settings, die, Zhukov19Checkpoint(path, 0.0)).fit(corpus or tiny_corpus(), np.random.default_rng(1))


@pytest.mark.parametrize("epochs", [1, 4, 7])
def test_a_killed_training_ends_with_the_same_bytes_and_says_where_it_went_on(tmp_path, epochs, caplog):
    whole = Zhukov19("component", QUICK).fit(tiny_corpus(), np.random.default_rng(1))
    stopped_after(epochs, tmp_path / "c")
    done = []
    again = Zhukov19(
        "component", QUICK, lambda progress: done.append(progress.epochs_done), Zhukov19Checkpoint(tmp_path / "c")
    ).fit(tiny_corpus(), np.random.default_rng(1))
    assert done == list(range(epochs + 1, 9)), "only the epochs that were missing are done"
    assert again.parameters.tobytes() == whole.parameters.tobytes()
    assert f"resumed at epoch {epochs}" in caplog.text


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"settings": replace(QUICK, dropout=0.1)}, "dropout = 0.3, not 0.1"),
        ({"sharing": "none"}, "sharing = component, not none"),
        ({"seed": 2}, "seed = "),
        ({"corpus": tiny_corpus(seed=5)}, "other videos, features or windows"),
        ({"corpus": tiny_corpus().without_windows()}, "other videos, features or windows"),
    ],
)
def test_a_checkpoint_of_anything_else_is_refused(tmp_path, other, says):
    stopped_after(3, tmp_path / "c")
    method = Zhukov19(
        other.get("sharing", "component"), other.get("settings", QUICK), checkpoint=Zhukov19Checkpoint(tmp_path / "c")
    )
    with pytest.raises(InputError, match=says):
        method.fit(other.get("corpus", tiny_corpus()), np.random.default_rng(other.get("seed", 1)))


@pytest.mark.parametrize("name", ["labels", "adam_current", "adam_taken", "parameters"])
@pytest.mark.parametrize("value", [-2, 10**12, np.nan])
def test_numbers_that_cannot_be_true_are_refused(tmp_path, name, value):
    stopped_after(3, tmp_path / "c")
    with safe_open(tmp_path / "c", "numpy") as file:
        about = json.loads(file.metadata()["crosstask"])
        arrays = {key: file.get_tensor(key).copy() for key in file.keys()}  # noqa: SIM118
    whole_numbers = arrays[name].dtype.kind == "i"
    if whole_numbers == (value is np.nan):
        return  # a number of the other kind
    if name == "parameters" and value is not np.nan:
        return  # any finite parameter can be true
    arrays[name].reshape(-1)[-1] = value
    save_file(arrays, tmp_path / "c", {"crosstask": json.dumps(with_content_digest(about, arrays))})
    with pytest.raises(InputError, match="do not fit this training; delete it"):
        Zhukov19("component", QUICK, checkpoint=Zhukov19Checkpoint(tmp_path / "c")).fit(tiny_corpus(), np.random.default_rng(1))


def test_a_flipped_bit_is_noticed(tmp_path):
    stopped_after(3, tmp_path / "c")
    data = bytearray((tmp_path / "c").read_bytes())
    data[-40] ^= 1
    (tmp_path / "c").write_bytes(data)
    with pytest.raises(InputError, match="damaged; delete it"):
        Zhukov19("component", QUICK, checkpoint=Zhukov19Checkpoint(tmp_path / "c")).fit(tiny_corpus(), np.random.default_rng(1))


def test_a_newer_format_is_refused(tmp_path):
    stopped_after(3, tmp_path / "c")
    with safe_open(tmp_path / "c", "numpy") as file:
        about = json.loads(file.metadata()["crosstask"])
        arrays = {key: file.get_tensor(key).copy() for key in file.keys()}  # noqa: SIM118
    save_file(arrays, tmp_path / "c", {"crosstask": json.dumps(about | {"format": 99})})
    with pytest.raises(InputError, match="checkpoint format 99; this version reads"):
        Zhukov19("component", QUICK, checkpoint=Zhukov19Checkpoint(tmp_path / "c")).fit(tiny_corpus(), np.random.default_rng(1))


def test_a_damaged_checkpoint_is_refused(tmp_path):
    stopped_after(3, tmp_path / "c")
    (tmp_path / "c").write_bytes((tmp_path / "c").read_bytes()[:-9])
    with pytest.raises(InputError, match="damaged; delete it"):
        Zhukov19("component", QUICK, checkpoint=Zhukov19Checkpoint(tmp_path / "c")).fit(tiny_corpus(), np.random.default_rng(1))


@pytest.mark.parametrize("packed", [False, True])
def test_the_fingerprint_covers_every_row(tmp_path, packed, monkeypatch):
    monkeypatch.setattr(zhukov19_checkpoint, "_BLOCK_BYTES", 100)
    digests = set()
    for changed_row in (None, 1, 13, 19):
        folder = tmp_path / str(changed_row)
        corpus = write_tiny(folder)
        if changed_row is not None:
            path = folder / "crosstask_features" / "-v1_1.npy"
            rows = np.load(path)
            rows[changed_row] *= -1
            np.save(path, rows)
        opened = open_corpus(folder)
        opened = with_packed_features(opened) if packed else opened
        arrays = training_arrays(opened, vocabulary_of(corpus.tasks.values(), "component"))
        assert (arrays.checksums is not None) == packed
        digests.add(fingerprint(arrays))
    assert len(digests) == 4
