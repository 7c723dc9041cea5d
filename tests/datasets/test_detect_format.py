"""Other published data sets, each as a tiny sample; every verb that takes a corpus detects them."""

import json

import numpy as np
import pytest

from cli.running import json_of, refused
from crosstask import open_corpus
from crosstask.datasets import write_windows
from crosstask.datasets.detect_format import FOLDER_DATASETS, JSON_DATASETS
from crosstask.features import write_rows
from crosstask.records import InputError, Interval, StepInterval, VideoKey
from datasets.test_captaincook import annotations
from tiny import write_tiny

COIN = {
    "database": {
        "-aa_1": {
            "class": "BrewTea",
            "subset": "training",
            "duration": 20.5,
            "video_url": "http://y/a",
            "annotation": [
                {"segment": [10.0, 12.0], "id": "2", "label": "pour water"},
                {"segment": [1, 4], "id": "1", "label": "boil water"},
            ],
        },
        "bb": {
            "class": "BrewTea",
            "subset": "testing",
            "duration": 9,
            "annotation": [{"segment": [2, 3], "id": "1", "label": "boil water"}],
        },
    }
}
YOUCOOK2 = {
    "database": {
        "v1": {
            "recipe_type": "112",
            "subset": "validation",
            "duration": 30,
            "annotations": [
                {"segment": [3, 9], "id": 0, "sentence": "mix flour, eggs and milk"},
                {"segment": [9, 20], "id": 1, "sentence": "fry the batter."},
            ],
        },
        "v2": {
            "recipe_type": "112",
            "subset": "training",
            "duration": 30,
            "annotations": [{"segment": [3, 9], "id": 0, "sentence": "crack an egg"}],
        },
    }
}
ACTIVITYNET = {
    "version": "1.3",
    "database": {
        "v1": {
            "subset": "validation",
            "duration": 30,
            "url": "http://y/1",
            "annotations": [{"segment": [1, 9], "label": "Making tea"}, {"segment": [20, 25], "label": "Washing dishes"}],
        },
        "v2": {"subset": "testing", "duration": 30, "annotations": []},
    },
}
PLANNING = [
    {"id": {"vid": "v1", "task": "Make Tea", "legal_range": [[1, 4, 0], [5, 9, 1]]}, "instruction_len": 2},
    {"id": {"vid": "v1", "task": "Make Tea", "legal_range": [[5, 9, 1], [11, 12, 7]]}, "instruction_len": 2},
]
SAMPLES = {
    "COIN": COIN,
    "YouCook2": YOUCOOK2,
    "ActivityNet": ACTIVITYNET,
    "CaptainCook4D": annotations(),
    "procedure planning": PLANNING,
}


@pytest.fixture
def write(tmp_path):
    def sample(value):
        path = tmp_path / "set" / "annotation.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(value))
        return path

    return sample


def write_breakfast(folder):
    for person, lines in (
        ("P03", "1-30 SIL\n31-150 pour_milk\n151-300 stir_milk\n"),
        ("P04", "1-45 pour_milk\n46-60 stir_milk\n61-75 SIL\n"),
    ):
        (folder / person).mkdir(parents=True)
        (folder / person / f"cam01_{person}_cereals.txt").write_text(lines)
    return folder


def test_every_known_data_set_has_a_sample():
    assert set(SAMPLES) == set(JSON_DATASETS) and set(FOLDER_DATASETS) == {"five tasks", "Breakfast"}


def test_classes_whose_names_differ_in_vowel_signs_are_different_tasks_and_in_other_signs_an_error(write):
    (entry,) = (entry for video, entry in COIN["database"].items() if video == "-aa_1")
    named = lambda *classes: {"database": {f"v{i}": {**entry, "class": name} for i, name in enumerate(classes)}}  # noqa: E731
    assert len(open_corpus(write(named("पानी पीना", "पानी पोना"))).tasks) == 2
    with pytest.raises(InputError, match=r"'Clean C' and 'Clean C\+\+' would both be task Clean-C"):
        open_corpus(write(named("Clean C", "Clean C++", "Clean C")))


def test_windows_that_narrate_wrote_are_read(write):
    path = write(COIN)
    corpus = open_corpus(path)
    made = {corpus.videos[0].key: (StepInterval(0, Interval(1.0, 4.0)),)}
    write_windows(path.parent / ".crosstask" / "constraints", corpus.tasks, made)
    assert dict(open_corpus(path).windows) == made


def test_coin(write):
    corpus = open_corpus(write(COIN))
    task = corpus.tasks["BrewTea"]
    assert task.title == "Brew Tea" and task.steps == ("boil water", "pour water")
    assert corpus.annotations[VideoKey("BrewTea", "-aa_1")] == (
        StepInterval(0, Interval(1, 4)),
        StepInterval(1, Interval(10, 12)),
    )
    assert corpus.seconds == {"-aa_1": 21, "bb": 9} and corpus.validation == {VideoKey("BrewTea", "bb")}


def test_youcook2_videos_have_their_own_step_lists(write):
    corpus = open_corpus(write(YOUCOOK2).parent)
    assert corpus.tasks["112-001"].steps == ("mix flour eggs and milk", "fry the batter")
    assert [str(video.key) for video in corpus.videos] == ["112-001_v1", "112-002_v2"]


def test_activitynet_labels_are_tasks_of_one_step(write):
    corpus = open_corpus(write(ACTIVITYNET))
    assert corpus.tasks["Making-tea"].steps == ("making tea",)
    assert sorted(str(video.key) for video in corpus.videos) == ["Making-tea_v1", "Washing-dishes_v1"]


def test_planning_lists_are_merged_by_video(write):
    path = write(PLANNING)
    assert open_corpus(path).tasks["Make-Tea"].steps == ("action 0", "action 1", "action 7")
    (path.parent / "actions.json").write_text('["boil water", "pour water"]')
    assert open_corpus(path).tasks["Make-Tea"].steps == ("boil water", "pour water", "action 7")


def test_breakfast_frames_become_seconds(tmp_path):
    corpus = open_corpus(write_breakfast(tmp_path / "b"))
    assert corpus.tasks["cereals"].steps == ("pour milk", "stir milk")
    key = VideoKey("cereals", "P03-cam01_P03_cereals")
    assert corpus.annotations[key][0] == StepInterval(0, Interval(2, 10)) and corpus.seconds[key.video] == 20


def test_real_five_tasks_are_detected(real_data):
    assert len(open_corpus(real_data / "niv").videos) == 148


def test_two_label_files_of_breakfast_that_would_be_one_video_are_refused(tmp_path):
    for name in ("a/b-c_tea.txt", "a-b/c_tea.txt"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("1-30 pour_milk\n")
    with pytest.raises(InputError, match="two annotations of video a-b-c_tea of task tea; expected one"):
        open_corpus(tmp_path)


@pytest.mark.parametrize("layout", ["release", "corpus.toml"])
@pytest.mark.parametrize("name", [*SAMPLES, "Breakfast"])
def test_conversion_round_trip(write, tmp_path, name, layout):
    source = write_breakfast(tmp_path / "b") if name == "Breakfast" else write(SAMPLES[name])
    before = open_corpus(source)
    for _ in range(2):  # repeating it is safe
        json_of("corpus", "convert", source, tmp_path / "out", "--to", layout)
    after = open_corpus(tmp_path / "out")
    assert dict(after.tasks) == dict(before.tasks) and set(after.videos) == set(before.videos)
    for video in before.videos:
        expected, found = before.annotations[video.key], after.annotations[video.key]
        assert [s.step for s in expected] == [s.step for s in found]
        assert np.allclose([s.interval.end_s for s in expected], [s.interval.end_s for s in found], atol=1e-3)
        assert before.n_segments(video) == after.n_segments(video)


@pytest.mark.parametrize("layout", ["release", "corpus.toml"])
def test_underscores_in_task_ids_are_replaced(tmp_path, layout):
    (tmp_path / "five" / "annotations").mkdir(parents=True)
    (tmp_path / "five" / "tasks.json").write_text('{"Brewing tea": ["BOIL", "POUR"]}')
    (tmp_path / "five" / "annotations" / "brew_tea_0001.csv").write_text("BOIL,1,4\nPOUR,5,6\n")
    for _ in range(2):
        json_of("corpus", "convert", tmp_path / "five", tmp_path / "out", "--to", layout)
    corpus = open_corpus(tmp_path / "out")
    assert list(corpus.tasks) == ["brew-tea"] and len(list(corpus.annotations)) == 1
    assert json_of("validate", tmp_path / "out")["errors"] == 0


@pytest.mark.parametrize("layout", ["release", "corpus.toml"])
@pytest.mark.parametrize("name", ["annotations/1_-v1_1.csv", "*constraints/1_-v1_1.csv"])
def test_conversion_overwrites_neither_other_steps_nor_what_a_person_edited(tmp_path, layout, name):
    write_tiny(tmp_path / "c")
    for _ in range(2):
        json_of("corpus", "convert", tmp_path / "c", tmp_path / "out", "--to", layout)
    (edited,) = (tmp_path / "out").glob(f"**/{name}")
    edited.write_text("1,2,3\n")
    said = refused("corpus", "convert", tmp_path / "c", tmp_path / "out", "--to", layout)
    assert "1_-v1_1.csv: differs from what this conversion writes and would be lost" in said and edited.read_text() == "1,2,3\n"
    tasks = tmp_path / "c" / "crosstask_release" / "tasks_primary.txt"
    before = tasks.read_text()
    for old, new in (("stir coffee", "stir tea"), ("Make Latte", "Make a Latte")):
        tasks.write_text(before.replace(old, new))
        assert tasks.read_text() != before
        said = refused("corpus", "convert", tmp_path / "c", tmp_path / "out", "--to", layout)
        assert "differs from what this conversion writes" in said


def test_verbs_accept_other_data_sets(write):
    path = write(COIN)
    assert json_of("stats", path)["tasks"]["BrewTea"]["videos"] == 2
    assert json_of("validate", path)["errors"] == 0
    assert json_of("evaluate", path, "--method", "uniform")["recall"]["mean"] >= 0


def test_features_at_another_rate_are_pooled_and_the_spec_says_so(write, tmp_path):
    path = write(COIN)
    rows = np.repeat(np.arange(21.0, dtype=np.float32), 4)[:, None]
    write_rows(tmp_path / "f" / "-aa_1.npy", rows)
    answer = json_of("corpus", "convert", path, tmp_path / "out", "--rate", 4, "--features", tmp_path / "f")
    assert answer["written"]["features"] == 1
    corpus = open_corpus(tmp_path / "out")
    assert np.array_equal(corpus.features.rows("-aa_1").ravel(), np.arange(21))
    assert "4 rows a second, mean over whole seconds" in corpus.feature_spec


INVALID = [
    ({"database": {}}, "a known data set"),
    ({"database": {"../x": COIN["database"]["bb"]}}, "cannot name a file"),
    ({"database": {"x": {"class": "A", "annotation": [{"segment": [5, 2], "label": "y"}]}}}, "start before end"),
    ({"database": {"x": {"class": "A", "annotation": [{"segment": "?", "label": "y"}]}}}, "expected COIN"),
    ({"database": {"x": {"class": "A", "annotation": 3}}}, "found no list"),
    ([{"id": {"vid": "v", "legal_range": [[1]]}}], "expected a planning list"),
    ([1, 2], "a known data set"),
]


@pytest.mark.parametrize(("value", "message"), INVALID)
def test_invalid_annotations_are_rejected(write, value, message):
    with pytest.raises(InputError, match=message):
        open_corpus(write(value))


def test_mistyped_commands_are_explained(write, tmp_path):
    path = write(COIN)
    assert "no such folder" in refused("corpus", "convert", tmp_path / "gone", tmp_path / "out")
    assert "expected release or corpus.toml" in refused("corpus", "convert", path, tmp_path / "out", "--to", "relese")
    assert "--rate 0.0: expected a number above 0" in refused("corpus", "convert", path, tmp_path / "out", "--rate", 0)
    assert "no such folder" in refused("corpus", "convert", path, tmp_path / "out", "--features", tmp_path / "gone")
    write_tiny(tmp_path / "c")
    assert "expected another folder" in refused("corpus", "convert", tmp_path / "c", tmp_path / "c")
    path.write_text("{")
    assert "not valid JSON" in refused("stats", path)
    (tmp_path / "empty").mkdir()
    assert "not a corpus" in refused("stats", tmp_path / "empty")
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "P_tea.txt").write_text("1-30 SIL\n90-31 pour\n")
    assert "line 2" in refused("stats", tmp_path / "lab")


@pytest.mark.parametrize("layout", ["release", "corpus.toml"])
def test_conversion_does_not_replace_the_list_of_other_videos_of_the_same_tasks(tmp_path, layout):
    write_tiny(tmp_path / "c")
    json_of("corpus", "convert", tmp_path / "c", tmp_path / "out", "--to", layout)
    (listed,) = (tmp_path / "out").glob("**/videos.csv")
    before = listed.read_text()
    release = tmp_path / "c" / "crosstask_release"
    for name in ("videos.csv", "videos_val.csv"):
        (release / name).write_text((release / name).read_text().replace("-v1_1", "other"))
    said = refused("corpus", "convert", tmp_path / "c", tmp_path / "out", "--to", layout)
    assert "differs from what this conversion writes" in said and listed.read_text() == before
