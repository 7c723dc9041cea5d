"""Every export is opened by its consumer's own library where that installs, and means the same seconds again."""

import csv
import io
import json

import pytest

from crosstask.export import FORMATS, Parse, export_run
from crosstask.export.annotation_tools import elan, fiftyone, label_studio
from crosstask.export.chapters import webvtt, youtube
from crosstask.export.tables_and_json import activitynet, csv_table
from crosstask.records import FoundStep, InputError, VideoKey
from crosstask.runs import open_run
from runs.test_folder import tiny_run


def parse_of(*spans, length=120.0, absent=()):
    steps = tuple(FoundStep(name, int(start), 0.5, start, end) for name, start, end in spans)
    return Parse(VideoKey("1", "-vidéo_1"), "Make <Latte> & more", length, steps, tuple(absent), "-vidéo 1.mp4")


PARSE = parse_of(("pour milk", 3.25, 9.5), ("stir --> & <b>", 20.0, 30.0), ("=sum(A1)", 61.0, 70.125), absent=("serve",))


def test_webvtt_is_read_by_a_webvtt_parser():
    webvtt_py = pytest.importorskip("webvtt")
    cues = webvtt_py.from_string(webvtt(PARSE)).captions
    assert [(cue.start, cue.end) for cue in cues] == [
        ("00:00:03.250", "00:00:09.500"),
        ("00:00:20.000", "00:00:30.000"),
        ("00:01:01.000", "00:01:10.125"),
    ]
    assert cues[0].text == "pour milk"


def test_elan_is_read_by_pympi(tmp_path):
    pympi = pytest.importorskip("pympi")
    (tmp_path / "a.eaf").write_text(elan(PARSE), "utf-8")
    found = sorted(pympi.Elan.Eaf(tmp_path / "a.eaf").get_annotation_data_for_tier("steps"))
    assert [tuple(a[:3]) for a in found] == [
        (3250, 9500, "pour milk"),
        (20000, 30000, "stir --> & <b>"),
        (61000, 70125, "=sum(A1)"),
    ]


def test_label_studio_counts_frames_from_one_and_keeps_the_seconds():
    (task,) = label_studio([PARSE], 25.0)
    region = task["predictions"][0]["result"][0]
    assert region["value"] == {"ranges": [{"start": 82, "end": 238}], "timelinelabels": ["pour milk"]}
    assert (region["meta"]["start_s"], region["meta"]["end_s"]) == (3.25, 9.5)
    (slow,) = label_studio([PARSE], 23.976)
    for wide, narrow in zip(task["predictions"][0]["result"], slow["predictions"][0]["result"], strict=True):
        assert wide["meta"] == narrow["meta"], "seconds do not drift with the frame rate"


def test_fiftyone_and_activitynet_shapes():
    labels = fiftyone([PARSE])
    assert labels["labels"]["1_-vidéo_1"][0] == {"label": "pour milk", "timestamps": [3.25, 9.5], "confidence": 0.5}
    assert set(labels["classes"]) == {step.step for step in PARSE.steps}
    results = activitynet([PARSE])
    assert set(results) == {"version", "results", "external_data"}
    assert results["results"]["-vidéo_1"][0]["segment"] == [3.25, 9.5]


def test_csv_round_trip_and_no_formula():
    rows = list(csv.DictReader(io.StringIO(csv_table([PARSE]))))
    assert [float(row["start_s"]) for row in rows[:3]] == [3.25, 20.0, 61.0]
    assert rows[2]["step"] == "'=sum(A1)" and rows[3]["shown"] == "no" and rows[3]["start_s"] == ""


def lines(text):
    return [line.split(" ", 1) for line in text.splitlines()]


def test_youtube_starts_at_zero_and_keeps_ten_seconds():
    text, remarks = youtube(parse_of(("a", 4, 6), ("b", 9, 12), ("c", 30, 33), ("d", 35, 36), ("e", 60, 61), ("f", 115, 118)))
    assert lines(text) == [["0:00", "a, b"], ["0:30", "c, d"], ["1:00", "e, f"]]
    assert len(remarks) == 4 and any("moved from 4 s to 0:00" in r for r in remarks)


def test_youtube_adds_an_introduction_and_says_when_too_few_are_left():
    text, remarks = youtube(parse_of(("a", 40, 50)))
    assert lines(text) == [["0:00", "Introduction"], ["0:40", "a"]]
    assert any("fewer than 3" in r for r in remarks)


def test_youtube_in_long_videos_counts_hours():
    text, _ = youtube(parse_of(("a", 0, 5), ("b", 3700, 3800), ("c", 4000, 4100), length=5000.0))
    assert [clock for clock, _ in lines(text)] == ["0:00:00", "1:01:40", "1:06:40"]


def test_all_formats_of_a_run(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    paths, _ = export_run(open_run(folder), list(FORMATS), tmp_path / "out")
    assert {path.parent.name for path in paths} == set(FORMATS)
    first = {path: path.read_bytes() for path in paths}
    export_run(open_run(folder), list(FORMATS), tmp_path / "out")
    assert all(path.read_bytes() == data for path, data in first.items())
    steps = json.loads((tmp_path / "out" / "json" / "steps.json").read_text())
    assert len(steps) == 3 and all(s["start_s"] < s["end_s"] <= 20 for video in steps for s in video["steps"])


def test_an_unknown_format_lists_the_known_ones(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    with pytest.raises(InputError, match="vtt, youtube, activitynet, elan, label-studio, fiftyone, csv, json"):
        export_run(open_run(folder), ["mp3"], tmp_path / "out")


def test_steps_taken_to_be_absent_are_left_out_unless_all_are_asked_for(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    data = json.loads((folder / "localizations.json").read_text())
    text = json.dumps(data).replace('"shown": true', '"shown": false', 1)
    assert text != json.dumps(data)
    (folder / "localizations.json").write_text(text)
    _, remarks = export_run(open_run(folder), ["csv"], tmp_path / "out")
    rows = (tmp_path / "out" / "csv" / "steps.csv").read_text().splitlines()
    assert remarks == ["1 steps are taken to be absent and left out; --all-steps keeps them"]
    assert sum(row.endswith(",,,,no") for row in rows) == 1
    _, remarks = export_run(open_run(folder), ["csv"], tmp_path / "out", all_steps=True)
    rows = (tmp_path / "out" / "csv" / "steps.csv").read_text().splitlines()
    assert remarks == [] and sum(row.endswith(",no") and ",,," not in row for row in rows) == 1
