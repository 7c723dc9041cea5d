import json

import pytest

from crosstask.datasets.published_texts import with_published_texts, write_published_texts
from crosstask.records import InputError, Task

TASKS = {"1": Task("1", "Tea", ("boil", "take", "pour")), "2": Task("2", "Toast", ("cut",))}


def test_what_is_written_is_read(tmp_path):
    full = {
        "1": Task("1", "Tea", ("boil", "take", "pour"), order=((0, 2), (1, 2)), descriptions=("a", "b", "c")),
        "2": TASKS["2"],
    }
    write_published_texts(full.values(), tmp_path)
    assert with_published_texts(TASKS, tmp_path) == full


def test_without_a_file_nothing_changes(tmp_path):
    write_published_texts(TASKS.values(), tmp_path)
    assert list(tmp_path.iterdir()) == [] and with_published_texts(TASKS, tmp_path) == TASKS


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"edges": [[1, 9]]}, r"edge \(1, 9\); expected two different steps of 1 to 3"),
        ({"edges": [[0, 2]]}, r"edge \(0, 2\)"),
        ({"edges": [[1]]}, "expected {TASK"),
        ({"descriptions": ["a"]}, "1 descriptions of 3 steps"),
        (7, "expected {TASK"),
    ],
)
def test_bad_entries_are_named(tmp_path, entry, message):
    (tmp_path / "published.json").write_text(json.dumps({"1": entry}))
    with pytest.raises(InputError, match=message):
        with_published_texts(TASKS, tmp_path)


def test_edges_on_a_circle_are_left_out_and_counted_in_the_log(tmp_path, caplog):
    caplog.set_level("INFO")
    (tmp_path / "published.json").write_text(json.dumps({"1": {"edges": [[1, 2], [2, 1], [2, 3], [2, 2]]}}))
    assert with_published_texts(TASKS, tmp_path)["1"].order == ((1, 2),)
    assert "3 edges form a cycle" in caplog.text


def test_the_real_file_is_read(real_data):
    from crosstask import open_corpus

    corpus = open_corpus(real_data / "captaincook")
    assert all(len(task.descriptions) == len(task.steps) for task in corpus.tasks.values())
    assert (0, 1) in corpus.tasks["6001"].order
