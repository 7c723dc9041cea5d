"""A few files, localized without a corpus: exports, and a run folder that can be viewed."""

import json

import pytest

from crosstask.model.localize_video import FoundInFile
from crosstask.pipeline.localize_files import (
    LocalizedFile,
    exports_of_files,
    localize_files,
    media_beside,
    run_of_files,
    write_exports,
    write_localized_run,
)
from crosstask.records import FoundStep, InputError, Localization, task_from_steps
from crosstask.runs import open_run
from crosstask.storage import nonblocking_lock
from runs.test_folder import tiny_run

TASK = task_from_steps("pour milk; whisk egg, well", "Salt/Pepper")
CUES = ("hello everyone", "first pour the milk", "let it warm a little", "now whisk the egg well", "thanks for watching")


@pytest.fixture
def talk(tmp_path):
    cues = "".join(f"00:00:{10 * i:02d}.000 --> 00:00:{10 * i + 8:02d}.000\n{text}\n\n" for i, text in enumerate(CUES))
    path = tmp_path / "talk ü.vtt"
    path.write_text(f"WEBVTT\n\n{cues}")
    return path


def test_a_run_folder_holds_steps_and_transcript(talk, tmp_path):
    found = localize_files([talk], TASK)
    folder = write_localized_run(tmp_path / "run", found, TASK, "crosstask localize")
    run = open_run(folder)
    (localization,) = run.localizations["localize"].values()
    assert [step.name for step in localization.steps] == ["pour milk", "whisk egg, well"]
    assert run.run.kind == "localize" and run.run.tasks["Salt-Pepper"].title == "Salt/Pepper"
    assert [line[2] for line in run.transcript(run.run.videos[0].key)] == list(CUES)
    write_localized_run(tmp_path / "run", found, TASK, "crosstask localize")


def test_another_run_is_not_overwritten(talk, tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    with pytest.raises(InputError, match="it holds the run of `crosstask demo`"):
        write_localized_run(folder, localize_files([talk], TASK), TASK, "")


def test_files_of_one_name_get_different_ids(tmp_path):
    found = FoundInFile(Localization("talk", "t", [FoundStep("pour milk", 1.0, 0.5, 0.0, 2.0)]), "subtitles", 9, None)
    run, localizations = run_of_files([LocalizedFile(tmp_path / "talk.vtt", found, None)] * 3, TASK, "")
    assert [video.id for video in run.videos] == ["talk", "talk (2)", "talk (3)"]
    assert len(localizations) == 3


def test_a_file_keeps_its_name_beside_numbered_ones(tmp_path):
    """As browsers number what is downloaded again."""
    names = ["talk (1)", "talk (2)", "talk", "Talk"]
    steps = [FoundStep("pour milk", 1.0, 0.5, 0.0, 2.0)]
    found = [FoundInFile(Localization(name, "t", steps), "subtitles", 9, None) for name in names]
    run, localizations = run_of_files([LocalizedFile(tmp_path / "talk.vtt", one, None) for one in found], TASK, "")
    assert [video.id for video in run.videos] == ["talk (1)", "talk (2)", "talk", "Talk (3)"]
    assert len(localizations) == 4


def test_every_format_as_text_and_as_files(talk, tmp_path):
    found = localize_files([talk], TASK)
    texts, remarks = exports_of_files(found, TASK, ["youtube", "vtt"])
    assert "0:00" in next(iter(texts["youtube"].values())) and remarks
    paths, _ = write_exports(tmp_path / "out", found, TASK, ["vtt", "html", "json"])
    assert {path.parent.name for path in paths} == {"vtt", "html", "json"}
    (steps,) = json.loads((tmp_path / "out" / "json" / "steps.json").read_text())
    assert steps["steps"][1]["step"] == "whisk egg, well"
    (chapters,), _ = write_exports(tmp_path / "chapters.vtt", found, TASK, ["vtt"])
    assert chapters == tmp_path / "chapters.vtt" and chapters.read_text() == texts["vtt"][next(iter(texts["vtt"]))]
    with pytest.raises(InputError, match="2 formats do not fit into one file"):
        write_exports(tmp_path / "chapters.vtt", found, TASK, ["vtt", "csv"])
    with pytest.raises(InputError, match="vtt makes 2 files; name a folder"):
        write_exports(tmp_path / "chapters.vtt", found * 2, TASK, ["vtt"])


def test_the_page_links_to_the_video_beside_the_subtitles(talk, tmp_path):
    film = talk.with_suffix(".mp4")
    film.write_bytes(b"")
    assert media_beside(talk) == film and media_beside(tmp_path / "talk ü.de.vtt") == film
    (tmp_path / "IMG_1.MOV").write_bytes(b"")
    assert media_beside(tmp_path / "IMG_1.vtt") == tmp_path / "IMG_1.MOV"
    (page,), _ = write_exports(tmp_path / "pages" / "page.html", localize_files([talk], TASK), TASK, ["html"])
    assert 'src="../talk%20%C3%BC.mp4"' in page.read_text("utf-8")


def test_the_run_folder_can_be_viewed(talk, tmp_path):
    from viewer.viewed import client_of

    client = client_of(write_localized_run(tmp_path / "run", localize_files([talk], TASK), TASK, "crosstask localize"))
    key = {"task": "Salt-Pepper", "video": "talk ü"}
    (found,) = client.get("/api/video", params=key).json()["parses"].values()
    assert [step["step"] for step in found] == list(TASK.steps)
    assert client.get("/api/scores", params={**key, "source": "this:localize"}).json() == {"scores": None}
    assert [line["text"] for line in client.get("/api/transcript", params=key).json()["lines"]] == list(CUES)


def test_a_file_of_something_else_is_not_overwritten(talk, tmp_path):
    found, mine = localize_files([talk], TASK), tmp_path / "corpus.toml"
    mine.write_text("[tasks.tea]\n")
    with pytest.raises(InputError, match=r"corpus\.toml: a file of another format, which would be overwritten"):
        write_exports(mine, found, TASK, ["csv"])
    assert mine.read_text() == "[tasks.tea]\n"
    for _ in range(2):  # an earlier export may be
        write_exports(tmp_path / "steps.csv", found, TASK, ["csv"])


def test_tables_of_one_video_after_another_do_not_replace_each_other(talk, tmp_path):
    other = tmp_path / "other.vtt"
    other.write_text(talk.read_text("utf-8"), "utf-8")
    for _ in range(2):
        write_exports(tmp_path / "out", localize_files([talk], TASK), TASK, ["csv"])
    before = (tmp_path / "out" / "csv" / "steps.csv").read_bytes()
    with pytest.raises(InputError, match=rf"steps\.csv: exported from \.\./{talk.name}, and would be overwritten"):
        write_exports(tmp_path / "out", localize_files([other], TASK), TASK, ["vtt", "csv"])
    assert (tmp_path / "out" / "csv" / "steps.csv").read_bytes() == before and not (tmp_path / "out" / "vtt").exists()
    write_exports(tmp_path / "out", localize_files([other], TASK), TASK, ["csv"], overwrite=True)


@pytest.mark.parametrize(
    ("name", "fine"),
    [
        *(("film.vtt", False), ("film.en.vtt", False), ("Film.vtt", False), ("absent/../film.vtt", False)),
        *(("film.chapters.vtt", True), ("film.csv", True)),
    ],
)
@pytest.mark.parametrize("film", ["film.mp4", "film.MP4"])
def test_chapters_are_not_written_where_they_would_be_taken_for_what_is_said(talk, tmp_path, name, fine, film):
    (tmp_path / film).write_bytes(b"")
    found, out = localize_files([talk], TASK), tmp_path / name
    if fine:
        write_exports(out, found, TASK, [out.suffix[1:]])
        return
    with pytest.raises(InputError, match=rf"{name}: would be taken for the subtitles of {film}; .* film\.chapters\.vtt"):
        write_exports(out, found, TASK, ["vtt"])
    assert not out.exists()


def test_two_commands_do_not_write_one_run_folder_at_the_same_time(talk, tmp_path):
    found = localize_files([talk], TASK)
    with nonblocking_lock(tmp_path / "run"), pytest.raises(BlockingIOError):
        write_localized_run(tmp_path / "run", found, TASK, "localize")
    assert not (tmp_path / "run" / "run.json").exists()
