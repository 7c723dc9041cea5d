from dataclasses import replace

import numpy as np
import pytest

from crosstask.learning.alternation import AlternationSettings
from crosstask.methods.checkpoint import TrainingCheckpoint
from crosstask.methods.proposed import Proposed
from crosstask.records import InputError
from tiny import tiny_corpus

QUICK = AlternationSettings(learning_rate=0.01, dropout=0.3, initial_epochs=4, epochs=4)


class Killed(Exception):
    """The power went out."""


def stopped_after(epochs, path, corpus=None, settings=QUICK):
    """A checkpoint left behind by a training that died."""

    def die(progress):
        if progress.epochs_done == epochs:
            raise Killed

    with pytest.raises(Killed):
        Proposed("component", settings, die, TrainingCheckpoint(path, 0.0)).fit(corpus or tiny_corpus(), np.random.default_rng(1))


@pytest.mark.parametrize("epochs", [1, 4, 7])
def test_a_killed_training_ends_with_the_same_bytes_and_says_where_it_went_on(tmp_path, epochs, caplog):
    whole = Proposed("component", QUICK).fit(tiny_corpus(), np.random.default_rng(1))
    stopped_after(epochs, tmp_path / "c")
    again = Proposed("component", QUICK, checkpoint=TrainingCheckpoint(tmp_path / "c")).fit(
        tiny_corpus(), np.random.default_rng(1)
    )
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
    method = Proposed(
        other.get("sharing", "component"), other.get("settings", QUICK), checkpoint=TrainingCheckpoint(tmp_path / "c")
    )
    with pytest.raises(InputError, match=says):
        method.fit(other.get("corpus", tiny_corpus()), np.random.default_rng(other.get("seed", 1)))


def test_a_damaged_checkpoint_is_refused(tmp_path):
    stopped_after(3, tmp_path / "c")
    (tmp_path / "c").write_bytes((tmp_path / "c").read_bytes()[:-9])
    with pytest.raises(InputError, match="damaged; delete it"):
        Proposed("component", QUICK, checkpoint=TrainingCheckpoint(tmp_path / "c")).fit(tiny_corpus(), np.random.default_rng(1))
