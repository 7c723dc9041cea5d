"""CaptainCook4D as published, in a made-up sample: two people, two recipes, a graph with START and END, one feature file."""

import json

import numpy as np
import pytest

from cli.running import json_of, refused
from crosstask import open_corpus
from crosstask.datasets.captaincook import ANNOTATION_FILE, FEATURE_SUFFIX
from crosstask.records import InputError, Interval, StepInterval, VideoKey

TEA = {11: "Boil-Boil 1 cup of water", 12: "Take-Take a mug", 13: "Pour-Pour the water into the mug"}


def recording(person, kitchen, times, activity=(4, "Lemon Tea"), texts=TEA):
    steps = [
        {"step_id": step, "start_time": start, "end_time": end, "description": texts[step], "has_errors": False}
        for step, start, end in times
    ]
    return {
        "recording_id": "x",
        "activity_id": activity[0],
        "activity_name": activity[1],
        "person_id": person,
        "environment": kitchen,
        "steps": steps,
    }


def annotations():
    toast = {31: "Cut-Cut bread", 32: "Clean-Clean the knife", 33: "Spread-Spread butter", 34: "Clean-Clean the knife"}
    return {
        "4_1": recording(2, 7, [(12, 1.5, 4.0), (11, 5.0, 9.0), (13, 10.0, 14.5)]),
        "4_2": recording(3, 1, [(12, -1.0, -1.0), (11, 2.0, 6.0), (13, 6.0, 8.0)]),
        "9_1": recording(3, 1, [(31, 0.0, 2.0), (32, 2.0, 3.0), (33, 4.0, 8.0), (34, 8.0, 9.0)], (9, "Toast"), toast),
    }


def write(folder, graph_edges=((0, 1), (0, 2), (1, 3), (2, 3), (3, 4)), value=None):
    (folder / "task_graphs").mkdir(parents=True)
    (folder / "features").mkdir()
    (folder / ANNOTATION_FILE).write_text(json.dumps(annotations() if value is None else value))
    nodes = {"0": "START", "1": TEA[12], "2": TEA[11], "3": TEA[13], "4": "END"}
    (folder / "task_graphs" / "lemontea.json").write_text(json.dumps({"steps": nodes, "edges": graph_edges}))
    toast = {"0": "START", "1": "Cut-Cut bread", "2": "Clean-Clean the knife", "3": "Spread-Spread butter"}
    toast |= {"4": "Clean-Clean the knife"}
    (folder / "task_graphs" / "toast.json").write_text(json.dumps({"steps": toast, "edges": [[0, 1], [1, 2], [2, 3], [3, 4]]}))
    np.savez(folder / "features" / f"4_1{FEATURE_SUFFIX}", np.arange(30, dtype=np.float32).reshape(15, 2))
    return folder


def test_people_kitchens_steps_and_absent_steps(tmp_path):
    corpus = open_corpus(write(tmp_path / "c"))
    assert [str(v.key) for v in corpus.videos] == ["4_P2_E7_4_1", "4_P3_E1_4_2", "9_P3_E1_9_1"]
    tea = corpus.tasks["4"]
    assert (tea.title, tea.steps) == ("Lemon Tea", ("take mug", "boil water", "pour water mug"))
    assert tea.descriptions[1] == "Boil-Boil 1 cup of water"
    assert corpus.annotations[VideoKey("4", "P3_E1_4_2")] == (
        StepInterval(1, Interval(2, 6)),
        StepInterval(2, Interval(6, 8)),
    )


def test_the_partial_order_is_kept_and_start_and_end_are_left_out(tmp_path):
    corpus = open_corpus(write(tmp_path / "c"))
    assert corpus.tasks["4"].order == ((0, 2), (1, 2))
    assert corpus.tasks["9"].order == ((0, 1), (1, 2), (2, 3)), "two steps with one text stay two steps"


def test_the_graph_decides_the_order_before_positions_do(tmp_path):
    corpus = open_corpus(write(tmp_path / "c", graph_edges=((2, 1), (1, 3))))
    assert corpus.tasks["4"].steps == ("boil water", "take mug", "pour water mug")


def test_features_are_read_from_archives(tmp_path):
    corpus = open_corpus(write(tmp_path / "c"))
    assert list(corpus.features) == ["P2_E7_4_1"] and corpus.features.length("P2_E7_4_1") == 15
    assert corpus.features.rows("P2_E7_4_1")[14].tolist() == [28, 29]
    assert corpus.n_segments(corpus.videos[1]) == 8


@pytest.mark.parametrize("layout", ["release", "corpus.toml"])
def test_converted_corpora_keep_order_and_descriptions(tmp_path, layout):
    source = write(tmp_path / "c")
    json_of("corpus", "convert", source, tmp_path / "out", "--to", layout)
    before, after = open_corpus(source), open_corpus(tmp_path / "out")
    assert dict(after.tasks) == dict(before.tasks) and after.tasks["4"].order
    assert np.array_equal(after.features.rows("P2_E7_4_1"), before.features.rows("P2_E7_4_1"))
    assert json_of("validate", tmp_path / "out")["errors"] == 0


def test_edges_on_a_circle_are_left_out(tmp_path):
    corpus = open_corpus(write(tmp_path / "c", graph_edges=((1, 2), (2, 1), (1, 3))))
    assert corpus.tasks["4"].order == ((0, 2),)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 3}, "recording 4_1: found"),
        ({"steps": []}, "no activity or no steps"),
        ({"person_id": "../x/../y"}, None),
        ({"steps": [{"step_id": 1, "start_time": 5, "end_time": 2, "description": "a-b"}]}, "expected start before end"),
    ],
)
def test_bad_recordings_are_named(tmp_path, change, message):
    value = annotations()
    value["4_1"] |= change
    folder = write(tmp_path / "c", value=value)
    if message is None:
        assert "/" not in open_corpus(folder).videos[0].id
    else:
        assert message in refused("stats", folder)


def test_a_damaged_archive_is_named(tmp_path):
    folder = write(tmp_path / "c")
    (folder / "features" / f"4_1{FEATURE_SUFFIX}").write_bytes(b"PK no archive")
    with pytest.raises(InputError, match=r"4_1_360p.* not an archive with 'arr_0'"):
        open_corpus(folder).features.rows("P2_E7_4_1")
