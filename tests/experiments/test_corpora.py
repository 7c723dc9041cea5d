import pytest

from crosstask.experiments import corpora
from crosstask.experiments.corpora import corpora_for_tuning, corpus_digest, corpus_of_run, open_once
from crosstask.records import InputError
from tiny import write_tiny


def digest_of(folder):
    for cached in (corpora.open_once, corpora.open_without_features, corpora.corpus_digest):
        cached.cache_clear()
    return corpus_digest(str(folder))


@pytest.mark.parametrize(
    "changed",
    ["crosstask_release/video_seconds.csv", "crosstask_release/annotations/1_-v1_0.csv", "crosstask_constraints/1_-v1_0.csv"],
)
def test_the_digest_of_a_corpus_changes_with_what_is_evaluated_on(tmp_path, changed):
    write_tiny(tmp_path)
    (tmp_path / "crosstask_features").rename(tmp_path / "away")
    before = digest_of(tmp_path)
    assert digest_of(tmp_path) == before
    lines = (tmp_path / changed).read_text().splitlines(keepends=True)
    (tmp_path / changed).write_text("".join(lines[:-1]))
    assert digest_of(tmp_path) != before


def test_the_digest_of_the_five_tasks_changes_with_their_windows(tmp_path):
    (tmp_path / "annotations").mkdir()
    (tmp_path / "tasks.json").write_text('{"Brewing tea": ["BOIL", "POUR"]}')
    (tmp_path / "annotations" / "brew_tea_0001.csv").write_text("BOIL,1,4\nPOUR,5,6\n")
    digests = []
    for number in range(2):
        (tmp_path / "windows" / "2").mkdir(parents=True, exist_ok=True)
        (tmp_path / "windows" / "2" / "brew_tea_0001.csv").write_text(f"1,{number},3\n")
        digests.append(digest_of(tmp_path))
    assert digests[0] != digests[1]


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
