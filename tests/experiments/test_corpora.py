import pytest

from crosstask.experiments.corpora import corpora_for_tuning, corpus_of_run, open_once
from crosstask.records import InputError

QUICK = {"learning_rate": 0.01, "dropout": 0.1, "initial_epochs": 2, "epochs": 2}


def test_planted_runs_have_worlds_of_their_own_and_another_for_tuning():
    name = "planted:demo:clear:7:32"
    worlds = [corpus_of_run(name, run) for run in range(3)]
    assert len(set(worlds)) == 3 and not set(corpora_for_tuning(name)) & set(worlds)


@pytest.mark.parametrize("bad", ["planted:demo", "planted:demo:clear:x:3", "planted:demo:clear:1:0"])
def test_bad_planted_names_are_refused(bad):
    with pytest.raises(InputError, match="expected planted:SHAPE"):
        open_once(bad)
