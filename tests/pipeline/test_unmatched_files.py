import re

import pytest

pytest.importorskip("av", reason="extra video is not installed")

from crosstask.datasets import open_corpus
from crosstask.pipeline.media import need_media
from crosstask.pipeline.unmatched_files import unmatched_files
from crosstask.records import InputError, Task

TASKS = {name: Task(name, name, ("pour milk", "stir")) for name in ("latte", "tea")}
TOML = '[tasks.latte]\nsteps = ["pour milk", "stir"]\n[tasks.tea]\nsteps = ["boil water", "pour"]\n'


def touch(folder, *names):
    for name in names:
        (folder / "videos" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "videos" / name).write_bytes(b"")
    return folder


def test_a_tidy_folder_has_none(tmp_path):
    tidy = (
        "latte/a.mp4",
        "latte/a.en.vtt",
        "latte/a.jpg",
        "latte/a.de.vtt",
        "latte/a.info.json",
        "latte/.DS_Store",
        "tea/b c.MOV",
        "tea/b c.srt",
        "tea/d.mp4",
        "tea/d.chapters.vtt",
        ".hidden.mp4",
        "readme.txt",
    )
    assert unmatched_files(touch(tmp_path, *tidy), TASKS) == []


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("a.mp4", "b.mp4"), r"videos/a\.mp4 \(and 1 more\): in no task's folder.* \(tasks: latte, tea\)"),
        (("Latte/a.mp4",), r"videos/Latte: its videos are not used; corpus\.toml has no task 'Latte'"),
        (("latte/a.MTS", "latte/b.mp4.part"), r"videos/latte/a\.MTS \(and 1 more\): no known video ending.*expected \.mp4"),
        (
            ("latte/new.de.vtt", "latte/old.srt"),
            r"videos/latte/new\.de\.vtt \(and 1 more\): .*without a video.*expected NAME\.vtt",
        ),
        (("latte/good.mov", "latte/x.mp4"), r"videos/latte/good\.mp4: not used, as good\.mov has the same name"),
        (("latte/godo.vtt", "latte/x.mp4"), r"videos/latte/godo\.vtt: subtitles without a video there.*beside NAME\.mp4"),
        (("latte/GOOD.mov", "latte/x.mp4"), r"videos/latte/good\.mp4: not used, as GOOD\.mov has the same name"),
    ],
)
def test_slips_are_named(tmp_path, names, says):
    touch(tmp_path, "latte/good.mp4", "tea/other.mp4", *names)
    (line,) = unmatched_files(tmp_path, TASKS)

    assert re.match(says, line), line


def test_a_task_without_videos_and_a_corpus_without_any(tmp_path, caplog):
    (touch(tmp_path, "latte/a.mp4") / "corpus.toml").write_text(TOML)
    assert len(need_media(open_corpus(tmp_path))) == 1
    assert "task 'tea': no videos in videos/tea/" in caplog.text
    (tmp_path / "videos/latte/a.mp4").rename(tmp_path / "videos/a.mp4")
    with pytest.raises(InputError, match=r"no video files; expected videos/TASK/NAME\.mp4 .*videos/a\.mp4: in no task's folder"):
        need_media(open_corpus(tmp_path))


def test_names_spelt_with_other_code_points_or_case_are_the_same_names(tmp_path):
    composed, decomposed = "cr\u00e8me", "cre\u0300me"
    steps = 'steps = ["press coffee", "pour milk"]'
    (tmp_path / "corpus.toml").write_text(f'[tasks."{composed}"]\n{steps}\n[tasks.tea]\n{steps}\n', "utf-8")
    for place in (decomposed, "Tea"):
        touch(tmp_path, f"{place}/{composed} {place}.mp4")
        said = tmp_path / "videos" / place / f"{decomposed} {place.upper()}.de.vtt"
        said.write_text("WEBVTT\n\n00:01.000 --> 00:02.000\npour the milk\n", "utf-8")
    corpus = open_corpus(tmp_path)
    assert [video.task for video in corpus.videos] == [composed, "tea"]
    assert [corpus.subtitles[video.id].language for video in corpus.videos] == ["de", "de"]
    assert unmatched_files(tmp_path, corpus.tasks) == []


def test_a_folder_of_the_exact_name_goes_first(tmp_path):
    (tmp_path / "corpus.toml").write_text(TOML, "utf-8")
    touch(tmp_path, "tea/a.mp4", "Tea/b.mp4", "latte/c.mp4")
    corpus = open_corpus(tmp_path)
    assert [video.id for video in corpus.videos] == ["c", "a"]
    assert unmatched_files(tmp_path, corpus.tasks) == [
        "videos/Tea: its videos are not used; corpus.toml has no task 'Tea' (tasks: latte, tea)"
    ]
