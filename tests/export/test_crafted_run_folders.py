"""Run folders written by somebody else: an export writes inside its folder or stops with an InputError."""

import json

import pytest

from crosstask.export import FORMATS, export_run
from crosstask.records import InputError
from crosstask.runs import Run, RunVideo, open_run
from runs.test_folder import tiny_run


def change(folder, edit):
    """Edit run.json and localizations.json as JSON."""
    run, found = (json.loads((folder / name).read_text()) for name in ("run.json", "localizations.json"))
    edit(run, found)
    (folder / "run.json").write_text(json.dumps(run))
    (folder / "localizations.json").write_text(json.dumps(found))


def rename_task(new):
    def edit(run, found):
        run["tasks"][new] = run["tasks"].pop("1")
        for video in run["videos"] + found["methods"]["proposed"]:
            video["task"] = new

    return edit


@pytest.mark.parametrize("identifier", ["../../../x", "/nosuch/x", "a/b", "..", "", "a\x00b", "a\\b"])
def test_a_task_id_cannot_leave_the_export_folder(tmp_path, identifier):
    folder, _, _ = tiny_run(tmp_path / "r")
    change(folder, rename_task(identifier))
    with pytest.raises(InputError, match="cannot name a file"):
        export_run(open_run(folder), list(FORMATS), tmp_path / "a" / "b" / "c" / "e")
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_every_name_of_a_run_that_becomes_a_path_is_checked(tmp_path):
    task = tiny_run(tmp_path / "r")[1].tasks["1"]
    described = ("title", "demo", "crosstask demo", 0, True)
    with pytest.raises(InputError, match=r"method id '\.\./x' cannot name a file"):
        Run(*described, {"1": task}, (), ("../x",))
    with pytest.raises(InputError, match=r"task id '\.\.' cannot name a file"):
        Run(*described, {"..": task}, (), ("hmm",))
    with pytest.raises(InputError, match="task id 'a/b' cannot name a file"):
        RunVideo("a/b", "v", 3)
    with pytest.raises(InputError, match="video id 'a/b' cannot name a file"):
        RunVideo("1", "a/b", 3)


def set_first(name, value):
    return lambda run, found: found["methods"]["proposed"][0]["steps"][0].update({name: value})


def set_video(name, value):
    return lambda run, found: run["videos"][0].update({name: value})


CRAFTED = {
    "NaN score": set_first("score", float("nan")),
    "infinite time": set_first("end_s", float("inf")),
    "media 7": set_video("media", 7),
    "lone surrogate": lambda run, found: run["tasks"]["1"].update({"title": "\ud800"}),
    "lone surrogate in a step": set_first("step", "\udfff"),
    "unknown method": lambda run, found: run.update({"methods": ["nosuch"]}),
    "no method": lambda run, found: run.update({"methods": []}),
    "unknown task": set_video("task", "77"),
    "endless video": set_video("n_segments", 10**400),
    "step out of range": set_video("truth", [[9, 0, 1]]),
    "title 7": lambda run, found: run["tasks"]["1"].update({"title": 7}),
    "negative time": set_first("moment_s", -5.0),
    "time after any video": set_first("end_s", 1e300),
    "ends before it starts": lambda run, found: found["methods"]["proposed"][0]["steps"][0].update({"start_s": 5, "end_s": 3}),
    "confidence 7": set_first("confidence", 7),
    "one video twice": lambda run, found: run["videos"].append(run["videos"][0]),
    "two videos of one file name": lambda run, found: run.update(
        tasks={**run["tasks"], "1_2": run["tasks"]["1"]},
        videos=[{**run["videos"][0], "task": "1", "video": "2_3"}, {**run["videos"][0], "task": "1_2", "video": "3"}],
    ),
    "notes 7": lambda run, found: run.update({"notes": [7]}),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_run_folder_is_an_input_error(tmp_path, name):
    folder, _, _ = tiny_run(tmp_path / "r")
    change(folder, CRAFTED[name])
    with pytest.raises(InputError):
        export_run(open_run(folder), list(FORMATS), tmp_path / "e")
