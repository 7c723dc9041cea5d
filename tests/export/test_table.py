"""Every export is read back, by the library of the target tool where it is installed, with the same times."""

import json

import pytest

from crosstask.export import FORMATS, export_run, n_exported_files
from crosstask.records import InputError
from crosstask.runs import open_run
from crosstask.storage import stable_json
from runs.test_folder import tiny_run


def test_all_formats_of_a_run(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    paths, _ = export_run(open_run(folder), list(FORMATS), tmp_path / "out")
    assert {path.parent.name for path in paths} == set(FORMATS)
    first = {path: path.read_bytes() for path in paths}
    export_run(open_run(folder), list(FORMATS), tmp_path / "out")
    assert all(path.read_bytes() == data for path, data in first.items())
    for path in paths:
        assert path.suffix != ".json" or path.read_text("utf-8") == stable_json(json.loads(path.read_bytes())), path.name
    steps = json.loads((tmp_path / "out" / "json" / "steps.json").read_text())
    assert len(steps) == 3 and all(s["start_s"] < s["end_s"] <= 20 for video in steps for s in video["steps"])


def test_an_unknown_format_lists_the_known_ones(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    with pytest.raises(InputError, match="vtt, youtube, activitynet, elan, label-studio, fiftyone, csv, html, json"):
        export_run(open_run(folder), ["mp3"], tmp_path / "out")


def test_steps_predicted_absent_are_left_out_unless_all_are_requested(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    data = json.loads((folder / "localizations.json").read_text())
    text = json.dumps(data).replace('"shown": true', '"shown": false', 1)
    assert text != json.dumps(data)
    (folder / "localizations.json").write_text(text)
    _, remarks = export_run(open_run(folder), ["csv"], tmp_path / "out")
    rows = (tmp_path / "out" / "csv" / "steps.csv").read_text().splitlines()
    assert remarks[0] == "1 of 9 steps are left out; --all-steps includes those taken to be absent"
    assert len(remarks) == 2 and "is left out: it is more likely absent than shown" in remarks[1]
    assert sum(row.endswith(",,,,no") for row in rows) == 1
    _, remarks = export_run(open_run(folder), ["csv"], tmp_path / "out", all_steps=True)
    rows = (tmp_path / "out" / "csv" / "steps.csv").read_text().splitlines()
    assert remarks == [] and sum(row.endswith(",no") and ",,," not in row for row in rows) == 1


@pytest.mark.parametrize("names", [["vtt", "csv"], list(FORMATS)])
def test_progress_counts_every_file(tmp_path, names):
    folder, run, _ = tiny_run(tmp_path / "r")
    seen = []
    paths, _ = export_run(open_run(folder), names, tmp_path / "e", advance=lambda: seen.append(1))
    assert len(seen) == len(paths) == n_exported_files(names, len(run.videos))
    assert n_exported_files(["vtt", "csv"], 3) == 4 and n_exported_files(["html"], 1) == 1


def test_steps_of_low_confidence_are_left_out_and_named(tmp_path):
    folder, _, parses = tiny_run(tmp_path / "r")
    limit = sorted(step.confidence for parse in parses for step in parse.steps)[4]
    _, remarks = export_run(open_run(folder), ["json"], tmp_path / "out", min_confidence=limit)
    videos = json.loads((tmp_path / "out" / "json" / "steps.json").read_text())
    kept = [step["confidence"] for video in videos for step in video["steps"]]
    assert kept and min(kept) >= limit and len(kept) + len(remarks) - 1 == 9
    assert all(f"below {limit:.2f}" in remark for remark in remarks[1:])


def test_what_a_person_corrected_is_in_every_format_at_once(tmp_path):
    from crosstask.records import Interval, StepLabel, VideoKey
    from crosstask.runs import LabelStore, RunLabel

    folder, run, _ = tiny_run(tmp_path / "r")
    twice = StepLabel(0, intervals=(Interval(1.5, 3.25), Interval(15, 17)))
    LabelStore(folder, run.tasks).append(
        VideoKey("1", "-v1_1"),
        [
            RunLabel(0, "pour milk", twice),
            RunLabel(1, "stir coffee", StepLabel(1)),
            RunLabel(2, "pour coffee", StepLabel(2, 12.5)),
        ],
        "viewer",
    )
    _, remarks = export_run(open_run(folder), list(FORMATS), tmp_path / "out")
    assert any("3 of the steps were confirmed or corrected by a person" in remark for remark in remarks)
    chapters = (tmp_path / "out" / "vtt" / "1_-v1_1.vtt").read_text()
    assert "00:00:01.500 --> 00:00:03.250\npour milk" in chapters and "00:00:15.000 --> 00:00:17.000\npour milk" in chapters
    assert "stir coffee" not in chapters
    rows = [line.split(",") for line in (tmp_path / "out" / "csv" / "steps.csv").read_text().splitlines()]
    mine = [row for row in rows if row[1] == "-v1_1"]
    assert (
        rows[0][-2:] == ["shown", "by"]
        and {row[-1] for row in mine} == {"person"}
        and {row[-1] for row in rows[1:]} == {"person", "machine"}
    )
    assert [row[3] for row in mine if row[2] == "pour coffee"] == ["12.5"] and ["no", "person"] in [row[-2:] for row in mine]
    for name in ("activitynet", "elan", "label-studio", "fiftyone", "json"):
        text = next((tmp_path / "out" / name).glob("*v1_1*" if name == "elan" else "*")).read_text()
        assert ("3250" if name == "elan" else "3.25") in text, name
