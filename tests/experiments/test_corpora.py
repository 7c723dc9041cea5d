import pytest

from crosstask.experiments.corpora import corpora_for_tuning, corpus_of_run, open_once
from crosstask.records import InputError


def test_synthetic_runs_have_their_own_corpora_and_others_for_tuning():
    name = "synthetic:demo:clear:7:32"
    corpora = [corpus_of_run(name, run) for run in range(3)]
    assert len(set(corpora)) == 3 and not set(corpora_for_tuning(name)) & set(corpora)


@pytest.mark.parametrize(
    "bad", ["synthetic:demo", "synthetic:demo:clear:x:3", "synthetic:demo:clear:1:0", "planted:demo:clear:1:8"]
)
def test_bad_synthetic_names_are_refused(bad):
    with pytest.raises(InputError, match=r"expected synthetic:SHAPE:DIFFICULTY:SEED:D, e\.g\. synthetic:paper:default:0:512"):
        open_once(bad)
