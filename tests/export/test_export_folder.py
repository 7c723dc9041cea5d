"""Exports overwrite neither what somebody edited or put into the folder nor the exports of other videos."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from crosstask.export import FormatFiles, export_folder, export_run, write_exported
from crosstask.export.export_folder import RECORD, UNFINISHED
from crosstask.records import InputError, StepLabel, VideoKey
from crosstask.runs import LabelStore, RunLabel, open_run
from crosstask.storage import write_many
from runs.test_folder import tiny_run

FORMATS = ["vtt", "csv"]


@pytest.fixture
def exported(tmp_path):
    folder, run, _ = tiny_run(tmp_path / "r")
    export_run(open_run(folder), FORMATS, tmp_path / "out")
    return folder, run, tmp_path / "out"


def correct(folder, run):
    label = RunLabel(0, "pour milk", StepLabel(0, 3.0))
    LabelStore(folder, run.tasks).append(VideoKey("1", "-v1_1"), [label], "viewer")


def test_exports_that_nobody_edited_are_written_again(exported):
    folder, run, out = exported
    before = (out / "csv" / "steps.csv").read_bytes()
    correct(folder, run)
    export_run(open_run(folder), FORMATS, out)
    assert (out / "csv" / "steps.csv").read_bytes() != before


@pytest.mark.parametrize("name", ["vtt/1_-v1_1.vtt", "csv/steps.csv"])
def test_an_edited_export_is_kept_and_nothing_is_written(exported, name):
    folder, run, out = exported
    (out / name).write_text("edited")
    correct(folder, run)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(
        InputError, match=r"edited after it was exported, or not written by an export.*labels import.*--overwrite"
    ):
        export_run(open_run(folder), FORMATS, out)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    export_run(open_run(folder), FORMATS, out, overwrite=True)
    assert (out / name).read_text() != "edited"
    export_run(open_run(folder), FORMATS, out)


@pytest.mark.parametrize("n_written", [0, 1, 2])
def test_files_of_an_interrupted_export_are_not_taken_for_edited_ones(exported, monkeypatch, n_written):
    """Whoever imported them, as advised for edited ones, would make corrections of the machine's answers."""
    folder, run, out = exported

    def interrupted(files):
        yield from write_many(list(files)[:n_written])
        raise OSError(28, "No space left on device")

    correct(folder, run)
    with monkeypatch.context() as patch:
        patch.setattr(export_folder, "write_many", interrupted)
        with pytest.raises(OSError, match="No space left"):
            export_run(open_run(folder), FORMATS, out)
    with (out / UNFINISHED).open("a") as file:
        file.write('{"name": "vtt/1_-v')  # a killed process
    LabelStore(folder, run.tasks).undo(1)
    edited = out / "csv" / "steps.csv"
    kept = edited.read_bytes()
    edited.write_text("edited")
    with pytest.raises(InputError, match=r"steps\.csv: edited after it was exported"):
        export_run(open_run(folder), FORMATS, out)
    edited.write_bytes(kept)
    export_run(open_run(folder), FORMATS, out)
    assert not (out / UNFINISHED).exists()
    fresh = out.with_name("fresh")
    export_run(open_run(folder), FORMATS, fresh)
    assert {p.relative_to(fresh): p.read_bytes() for p in fresh.rglob("*") if p.is_file()} == {
        p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.is_file()
    }


def test_a_file_that_no_export_wrote_is_kept(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    mine = tmp_path / "out" / "csv" / "steps.csv"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(InputError, match=r"steps\.csv: edited after it was exported, or not written by an export"):
        export_run(open_run(folder), FORMATS, tmp_path / "out")
    assert mine.read_text() == "mine" and not (tmp_path / "out" / "vtt").exists()


def test_exports_of_another_run_are_kept(exported, tmp_path):
    folder, _, out = exported
    other, _, _ = tiny_run(tmp_path / "other")
    data = json.loads((other / "localizations.json").read_text())
    (other / "localizations.json").write_text(json.dumps(data).replace('"shown": true', '"shown": false', 1))
    with pytest.raises(InputError, match=r": exported from \.\./r, and would be overwritten; name another --out"):
        export_run(open_run(other), FORMATS, out)
    export_run(open_run(folder), FORMATS, out)


def test_a_collection_that_was_moved_is_exported_again(tmp_path):
    folder, run, _ = tiny_run(tmp_path / "a" / "run")
    export_run(open_run(folder), FORMATS, folder / "exports")
    shutil.move(tmp_path / "a", tmp_path / "b")
    moved = tmp_path / "b" / "run"
    correct(moved, run)
    export_run(open_run(moved), FORMATS, moved / "exports")


@pytest.mark.parametrize("record", [None, "{", '{"exports": [{"files": 3}]}', "[" * 100_000])
def test_an_export_that_was_interrupted_before_its_record_is_repeated(exported, record):
    folder, _, out = exported
    before = (out / RECORD).read_bytes()
    (out / RECORD).unlink()
    if record is not None:
        (out / RECORD).write_text(record)
    export_run(open_run(folder), FORMATS, out)
    assert (out / RECORD).read_bytes() == before


def test_what_was_exported_together_is_replaced_by_an_export_of_at_least_as_much(tmp_path):
    def table(text):
        return [FormatFiles(lambda: [("csv/steps.csv", (text,))], one_per_video=False)]

    films = [tmp_path / name for name in ("a.mp4", "b.mp4")]
    write_exported(tmp_path / "out", table("a"), films[:1])
    write_exported(tmp_path / "out", table("a, b"), films)
    with pytest.raises(InputError, match=r"steps\.csv: exported from \.\./b\.mp4, and would be overwritten"):
        write_exported(tmp_path / "out", table("a again"), films[:1])


def test_two_exports_into_one_folder_follow_each_other(tmp_path):
    """A loop over videos may run several at once; each file is recorded."""
    names = [f"{i}.vtt" for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                lambda name: write_exported(tmp_path, [FormatFiles(lambda: [(name, ("x",))], True)], [tmp_path / name]), names
            )
        )
    recorded = [file for export in json.loads((tmp_path / RECORD).read_text())["exports"] for file in export["files"]]
    assert sorted(recorded) == names == sorted(path.name for path in tmp_path.glob("[!.]*"))
