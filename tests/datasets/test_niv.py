import json

import numpy as np
import pytest

from crosstask.datasets.niv import is_niv, read_niv, windows_for
from crosstask.records import InputError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "annotations").mkdir()
    (tmp_path / "tasks.json").write_text(json.dumps({"making coffee": ["fill water", "pour"], "repotting": ["put soil", "pour"]}))
    (tmp_path / "annotations" / "coffee_0001.csv").write_text("FILL WATER,1.5,4\nPOUR,6,9.2\n")
    (tmp_path / "annotations" / "my_pot_0001.csv").write_text("PUT SOIL,0,3\n")
    return tmp_path


def test_tasks_are_identified_by_their_steps(folder):
    corpus = read_niv(folder)
    assert is_niv(folder) and {t.id: t.title for t in corpus.tasks.values()} == {
        "coffee": "making coffee",
        "my_pot": "repotting",
    }
    video = corpus.videos[0]
    assert corpus.n_segments(video) == 10 and [a.step for a in corpus.annotations[video.key]] == [0, 1]


def test_optional_features_and_windows_are_read(folder):
    (folder / "features").mkdir()
    (folder / "windows" / "3").mkdir(parents=True)
    np.save(folder / "features" / "coffee_0001.npy", np.zeros((12, 4), np.float32))
    (folder / "windows" / "3" / "coffee_0001.csv").write_text("3,8,11\n")
    corpus = read_niv(folder)
    assert corpus.n_segments(corpus.videos[0]) == 12
    (window,) = windows_for(corpus, 3)[corpus.videos[0].key]
    assert (window.step, window.interval.start_s) == (2, 8)
    assert windows_for(corpus, 5) == {}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("coffee_0002.csv", "FILL WATER,1", "coffee_0002.csv, line 1: found 'FILL WATER,1'"),
        ("coffee_0002.csv", "FILL WATER,1,inf", "coffee_0002.csv, line 1: found 'FILL WATER,1,inf'"),
        ("coffee_0002.csv", "FILL WATER,1,1e999", "line 1: found 'FILL WATER,1,1e999'"),
        ("coffee_0002.csv", "SING,1,2", "step 'sing' is in no list"),
    ],
)
def test_invalid_files_are_named(folder, name, text, message):
    (folder / "annotations" / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_niv(folder)


@pytest.mark.parametrize(
    ("text", "message"), [("{}", "expected an object of task titles"), ("[" * 200_000, "not valid JSON"), ("{", "not valid JSON")]
)
def test_a_file_without_step_lists_is_named(folder, text, message):
    (folder / "tasks.json").write_text(text)
    with pytest.raises(InputError, match=rf"tasks.json: {message}"):
        read_niv(folder)


def test_real_data_has_the_published_counts(real_data):
    corpus = read_niv(real_data / "niv")
    assert (len(corpus.tasks), len(corpus.videos), sum(len(t.steps) for t in corpus.tasks.values())) == (5, 148, 48)
    assert sum(len(a) for a in corpus.annotations.values()) == 1320
