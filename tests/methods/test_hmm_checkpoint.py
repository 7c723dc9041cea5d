"""The best recipe, stopped and taken up again: the same numbers, and nothing but its own checkpoint."""

import json

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from crosstask.learning.hmm.statistics import ClassIndex, HmmVideo
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.hmm_checkpoint import HmmCheckpoint, fingerprint
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.methods.zhukov19_checkpoint import Zhukov19Checkpoint
from crosstask.records import InputError
from crosstask.storage import with_content_digest
from tiny import tiny_corpus


class Killed(Exception):
    """The power went out."""


def stopped_after(iterations, path):
    """A checkpoint left behind by a training that died after so many iterations of all members."""
    done = []

    def die(state):
        done.append(state)
        if len(done) == iterations:
            raise Killed

    with pytest.raises(Killed):
        HiddenMarkovModel(after_epoch=die, checkpoint=HmmCheckpoint(path, 0.0)).fit(tiny_corpus(), np.random.default_rng(0))


def resumed(path, corpus=None, sharing="component", after_epoch=lambda done: None):
    method = HiddenMarkovModel(sharing, after_epoch=after_epoch, checkpoint=HmmCheckpoint(path))
    return method.fit(corpus or tiny_corpus(), np.random.default_rng(0)).members


@pytest.mark.parametrize("iterations", [1, 5, 10, 11, 47])
def test_a_killed_training_ends_with_the_same_bytes_and_says_where_it_went_on(tmp_path, iterations, caplog):
    whole = HiddenMarkovModel().fit(tiny_corpus(), np.random.default_rng(0)).members
    stopped_after(iterations, tmp_path / "c")
    done = []
    again = resumed(tmp_path / "c", after_epoch=lambda now: done.append(now.iterations))
    assert len(done) == 50 - iterations, "only the iterations that were missing are done"
    assert f"resumed at epoch {iterations}" in caplog.text
    for one, two in zip([m.parameters for m in again], [m.parameters for m in whole], strict=True):
        assert one.coefficients.tobytes() == two.coefficients.tobytes()
        assert one.covariance.tobytes() == two.covariance.tobytes()
        for first, second in zip(one.priors, two.priors, strict=True):
            assert first.position.tobytes() == second.position.tobytes()
            assert first.background_duration == second.background_duration


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"sharing": "none"}, "sharing = component, not none"),
        ({"corpus": tiny_corpus(seed=5)}, "other videos, features or windows"),
        ({"corpus": tiny_corpus().without_windows()}, "other videos, features or windows"),
    ],
)
def test_a_checkpoint_of_anything_else_is_refused(tmp_path, other, says):
    stopped_after(3, tmp_path / "c")
    with pytest.raises(InputError, match=says):
        resumed(tmp_path / "c", **other)


def test_methods_refuse_each_others_checkpoints_by_name(tmp_path):
    stopped_after(3, tmp_path / "best")
    with pytest.raises(InputError, match="method = hmm, not zhukov19"):
        Zhukov19(checkpoint=Zhukov19Checkpoint(tmp_path / "best")).fit(tiny_corpus(), np.random.default_rng(0))

    def die(progress):
        raise Killed

    with pytest.raises(Killed):
        Zhukov19(after_epoch=die, checkpoint=Zhukov19Checkpoint(tmp_path / "paper", 0.0)).fit(
            tiny_corpus(), np.random.default_rng(0)
        )
    with pytest.raises(InputError, match="method = zhukov19, not hmm"):
        resumed(tmp_path / "paper")


@pytest.mark.parametrize("name", ["counts", "sums", "position.0000", "presence.0001"])
@pytest.mark.parametrize(
    "bend", [lambda a: a * np.nan, lambda a: a[..., :1], lambda a: a.astype(np.float32)], ids=["NaN", "cut", "type"]
)
def test_arrays_that_cannot_be_true_are_refused(tmp_path, name, bend):
    stopped_after(3, tmp_path / "c")
    with safe_open(tmp_path / "c", "numpy") as file:
        about = json.loads(file.metadata()["crosstask"])
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    of_some_run = next(key for key in sorted(arrays) if key.endswith(f".{name}"))
    arrays[of_some_run] = np.ascontiguousarray(bend(arrays[of_some_run]))
    save_file(arrays, tmp_path / "c", {"crosstask": json.dumps(with_content_digest(about, arrays))})
    with pytest.raises(InputError, match="do not fit this training; delete it"):
        resumed(tmp_path / "c")


def test_a_flipped_bit_is_noticed(tmp_path):
    stopped_after(3, tmp_path / "c")
    data = bytearray((tmp_path / "c").read_bytes())
    data[-40] ^= 1
    (tmp_path / "c").write_bytes(data)
    with pytest.raises(InputError, match="damaged; delete it"):
        resumed(tmp_path / "c")


@pytest.mark.parametrize("name", ["iterations", "background_durations"])
def test_a_changed_digit_in_the_description_is_noticed(tmp_path, name):
    stopped_after(3, tmp_path / "c")
    with safe_open(tmp_path / "c", "numpy") as file:
        about = json.loads(file.metadata()["crosstask"])
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    run, value = next(iter(about[name].items()))
    about[name][run] = 4 if name == "iterations" else [duration + 1e-3 for duration in value]
    save_file(arrays, tmp_path / "c", {"crosstask": json.dumps(about)})
    with pytest.raises(InputError, match="damaged; delete it"):
        resumed(tmp_path / "c")


def test_a_checkpoint_of_other_rows_is_refused_wherever_they_differ():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 4)).astype(np.float32)
    classes = ClassIndex((2,), np.eye(3))
    digests = {fingerprint([HmmVideo(0, rows, np.zeros((200, 2), bool))], [classes])}
    for changed_row in (1, 96, 98, 199):
        other = rows.copy()
        other[changed_row] *= -1
        digests.add(fingerprint([HmmVideo(0, other, np.zeros((200, 2), bool))], [classes]))
    assert len(digests) == 5
