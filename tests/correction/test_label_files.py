"""Label files that are broken, empty, of another kind or huge are refused with their line or path."""

import json

import pytest

from crosstask.correction.label_files import read_label_file
from crosstask.export.tables_and_json import csv_table
from crosstask.records import InputError, Interval
from export.videos import video_of
from fuzz.hanging import no_hang

CUE = "00:00:01.000 --> 00:00:02.000\npour\n\n"
GOOD_REGION = {"value": {"ranges": [{"start": 26, "end": 50}], "timelinelabels": ["pour"]}}


def studio(*regions, **data):
    return json.dumps([{"data": {"video": "media/v.mp4", **data}, "annotations": [{"result": list(regions)}]}])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "", "a.csv: empty"),
        ("a.csv", " \n\n", "a.csv: empty"),
        ("a.csv", "1,2,3\n", "line 1: found '1,2,3'; expected a header"),
        ("a.csv", "video,step,start_s,end_s,start_s\nv,pour,1,2,3\n", "line 1: two columns 'start_s'; expected one"),
        ("a.csv", "video,step,start_s,end_s\nv,pour,1\n", "line 2: 3 cells; expected 4"),
        ("a.csv", "video,step,start_s,end_s\nv,pour,one,2\n", "line 2: start_s is 'one'"),
        ("a.csv", "video,step,start_s,end_s\nv,pour,5,2\n", "line 2: from 5.0 to 2.0"),
        ("a.csv", "video,step,start_s,end_s\nv,pour,nan,inf\n", "line 2: from nan to inf"),
        ("a.csv", "video,step,moment_s\nv,pour,\n", "line 2: no time"),
        ("a.csv", "video,step,moment_s\nv,pour,1e300\n", "line 2: no time"),
        ("a.csv", "video,step,moment_s,start_s,end_s\nv,pour,24,4,6\n", "line 2: moment_s 24 is not between"),
        ("a.csv", "video,step,moment_s,start_s,end_s\nv,pour,5,,6\n", "line 2: one of start_s and end_s"),
        ("a.csv", "video,step,moment_s,shown\nv,pour,5,nein\n", "line 2: shown is 'nein'; expected yes or no"),
        ("a.vtt", "no vtt", "line 1: found 'no vtt'; expected 'WEBVTT'"),
        ("a.vtt", "WEBVTT\n\nnothing\n", "no chapter"),
        ("a.vtt", "WEBVTT\n\n1 --> 2\npour\n", "line 3"),
        ("a.vtt", "WEBVTT\n\n00:00:05.000 --> 00:00:02.000\npour\n", "line 3: from 5.0 to 2.0"),
        ("a.json", "{", "line 1: not JSON"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.json", "{}", "neither ActivityNet's nor Label Studio's"),
        ("a.json", "[]", "neither ActivityNet's nor Label Studio's"),
        ("a.json", '[{"x": 1}]', "neither ActivityNet's nor Label Studio's"),
        ("a.json", '{"results": {"v": 1}}', "results.v: no list"),
        ("a.json", studio(GOOD_REGION | {"meta": [1]}), "expected a region"),
        ("a.json", studio({"value": {"ranges": [{"start": 10**400, "end": 3}], "timelinelabels": ["pour"]}}), "expected"),
        ("a.json", studio(GOOD_REGION).replace("26", "1e400"), "expected a region"),
        ("a.json", '{"results": {"v": [{"label": "pour", "segment": [1]}]}}', r"results.v\[0\]: found"),
        (
            "a.json",
            '{"database": {"v": {"annotations": [{"label": "pour", "segment": [4, 1]}]}}}',
            r"database.v\[0\]: from 4 to 1",
        ),
        ("a.json", studio({"value": {}}), r"\[0\].annotations\[0\].result\[0\]: found"),
        ("a.json", '[{"data": {}, "annotations": [{}]}]', "no 'result' list"),
        ("a.txt", "0:00 pour\n", "ending '.txt' is unknown"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said):
        read_label_file(tmp_path / name, 25.0)


def test_huge_binary_absent_and_special_files_are_refused(tmp_path):
    with (tmp_path / "huge.csv").open("wb") as file:
        file.truncate(2**29)
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00\x01")
    (tmp_path / "folder.csv").mkdir()
    for name, said in {
        "huge.csv": "is too large",
        "binary.json": "not UTF-8",
        "absent.csv": "cannot be read",
        "folder.csv": "one file at a time",
    }.items():
        with pytest.raises(InputError, match=said):
            read_label_file(tmp_path / name, 25.0)


def test_label_studio_counts_frames_from_one_and_our_seconds_are_used_while_they_fit(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(studio(GOOD_REGION))
    (label,) = read_label_file(path, 25.0)
    assert (label.video, label.step, label.interval) == ("v", "pour", Interval(1.0, 2.0))
    path.write_text(studio({**GOOD_REGION, "meta": {"start_s": 1.013, "end_s": 1.99}}, video_id="other", task="Make Latte"))
    (label,) = read_label_file(path, 25.0)
    assert (label.video, label.task, label.interval) == ("other", "Make Latte", Interval(1.013, 1.99))
    path.write_text(studio({**GOOD_REGION, "meta": {"start_s": 7.0, "end_s": 9.0}}))
    assert read_label_file(path, 25.0)[0].interval == Interval(1.0, 2.0), "the region was moved in Label Studio"
    path.write_text(studio({**GOOD_REGION, "meta": {"start_s": 0.96, "end_s": 2.0}}))
    assert read_label_file(path, 25.0)[0].interval == Interval(1.0, 2.0), "by a single frame"
    path.write_text(studio({**GOOD_REGION, "meta": {"start_s": float("inf"), "end_s": 1.7e308}}))
    assert read_label_file(path, 25.0)[0].interval == Interval(1.0, 2.0)
    path.write_text(studio({**GOOD_REGION, "meta": {"start_s": 1.7e308, "end_s": 1.7e308}}))
    assert read_label_file(path, 25.0)[0].interval == Interval(1.0, 2.0)


def test_label_studio_files_without_a_frame_rate_are_taken_to_have_25_and_it_is_said(tmp_path, caplog):
    path = tmp_path / "a.json"
    path.write_text(studio(GOOD_REGION))
    assert read_label_file(path)[0].interval == Interval(1.0, 2.0)
    assert "a.json: states no frame rate; 25 frames a second are taken, --fps says otherwise" in caplog.text
    caplog.clear()
    path.write_text(studio(GOOD_REGION, frames_per_second=50))
    assert read_label_file(path)[0].interval == Interval(0.5, 1.0) and not caplog.text
    for wrong in (0, "25", True, 1e9):
        path.write_text(studio(GOOD_REGION, frames_per_second=wrong))
        with pytest.raises(InputError, match=r"expected a number from 0\.1 to 1000"):
            read_label_file(path)


def test_label_studio_annotations_that_were_cancelled_are_no_labels(tmp_path):
    (tmp_path / "a.json").write_text(
        studio(GOOD_REGION).replace('"annotations": [{', '"annotations": [{"was_cancelled": true, "result": [1]}, {')
    )
    assert [label.interval for label in read_label_file(tmp_path / "a.json", 25.0)] == [Interval(1.0, 2.0)]


def test_separators_that_are_no_line_ends_stay_in_their_cell(tmp_path):
    (tmp_path / "a.csv").write_bytes("video,step,moment_s\r\nv,pour\u2028milk\x0c,5\r\n".encode())
    assert [label.step for label in read_label_file(tmp_path / "a.csv", 25.0)] == ["pour\u2028milk"]


def test_chapters_keep_their_names_and_files_from_windows_are_read(tmp_path):
    path = tmp_path / "1_v.vtt"
    path.write_bytes("\ufeffWEBVTT\r\n\r\n1\r\n00:01.000 --> 00:02.500\r\nsalt &amp; pepper\r\n".encode())
    (label,) = read_label_file(path, 25.0)
    assert (label.video, label.step, label.interval) == ("1_v", "salt & pepper", Interval(1.0, 2.5))


def test_long_chapters_are_read_in_linear_time(tmp_path):
    path = tmp_path / "1_v.vtt"
    path.write_text(
        "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n" + "<" * 1_000_000 + "\n\n" + CUE * 100_000
    )  # hours in quadratic time
    with no_hang():
        assert len(read_label_file(path, 25.0)) == 100_001


@pytest.mark.parametrize("name", ["=sum", "'=sum", "''-x", "'quoted", "plain"])
def test_a_name_that_begins_like_a_formula_comes_back_as_csv(tmp_path, name):
    path = tmp_path / "steps.csv"
    path.write_text("".join(csv_table([video_of((name, 1, 3))])))
    assert [label.step for label in read_label_file(path, 25.0)] == [name]
