import errno
import os

import numpy as np
import pytest

from crosstask import open_corpus
from crosstask.datasets import write_windows
from crosstask.datasets.corpus_toml import read_corpus_toml, write_corpus_toml
from crosstask.datasets.corpus_writer import write_corpus
from crosstask.datasets.problems import problems_of_files
from crosstask.features import write_rows
from crosstask.records import InputError, Interval, StepInterval, Task, VideoKey
from tiny import tiny_corpus


def corpus_folder(tmp_path, text):
    (tmp_path / "corpus.toml").write_text(text, "utf-8")
    return tmp_path


def test_tasks_and_videos_of_a_folder(tmp_path):
    folder = corpus_folder(tmp_path, '[tasks.latte]\ntitle = "Make Latte"\nsteps = ["grind coffee", "pour milk"]\n')
    (folder / "videos" / "latte").mkdir(parents=True)
    (folder / "videos" / "latte" / "Mon café – 1.mp4").write_bytes(b"")
    (folder / "videos" / "latte" / "notes.txt").write_bytes(b"")
    corpus = open_corpus(folder)
    assert corpus.tasks["latte"].steps == ("grind coffee", "pour milk")
    assert [v.id for v in corpus.videos] == ["Mon café – 1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tasks", "corpus.toml"),
        ("x = " + "9" * 5000, "corpus.toml: Exceeds the limit"),
        ("", "no tasks"),
        ("[tasks.a]\ntitle='x'\n", "steps are missing"),
        ("[tasks.a]\nsteps=[]\n", "no steps"),
        ("[tasks.a]\nsteps=['x', ' ']\n", "step 2 is empty"),
        ("[tasks.a]\ntitel='X'\nsteps=['x']\n", "'titel' is unknown; expected title"),
        ("[tasks.a_b]\nsteps=['x']\n", "underscore"),
        ("[tasks.'../x']\nsteps=['x']\n", "cannot name a file"),
        ("[tasks.tea]\nsteps=['x']\n[tasks.Tea]\nsteps=['x']\n", "tasks 'tea' and 'Tea' would have the same files on many disks"),
    ],
)
def test_invalid_tables_are_named(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        open_corpus(corpus_folder(tmp_path, text))


def test_write_and_read_round_trip(tmp_path):
    first = open_corpus(corpus_folder(tmp_path, '[tasks.a]\ntitle = "Ä \\"q\\""\nrelated = true\nsteps = ["x, y", "z"]\n'))
    write_corpus_toml(tmp_path / "corpus.toml", first.tasks)
    assert open_corpus(tmp_path).tasks == first.tasks


def test_different_videos_of_one_name_in_two_tasks_keep_their_own_subtitles_and_annotations(tmp_path):
    tasks = {name: Task(name, name, ("pour milk", "stir")) for name in ("latte", "tea")}
    write_corpus_toml(tmp_path / "corpus.toml", tasks)
    for name in ("annotations", "constraints"):
        (tmp_path / name).mkdir()
    for number, task in enumerate(tasks):
        folder = tmp_path / "videos" / task
        folder.mkdir(parents=True)
        (folder / "intro.mp4").write_bytes(bytes([number]) * 1000)
        (folder / "both.mp4").write_bytes(b"the same film")
        (folder / "intro.vtt").write_text(f"WEBVTT\n\n00:01.000 --> 00:02.000\n{task}\n")
        for name in ("annotations", "constraints"):
            (tmp_path / name / f"{task}_intro.csv").write_text(f"1,{number},{number + 2}\n")
    corpus = open_corpus(tmp_path)
    keys = [("latte", "both"), ("latte", "latte-intro"), ("tea", "both"), ("tea", "tea-intro")]
    assert [video.key for video in corpus.videos] == [VideoKey(*key) for key in keys]
    assert {video: corpus.subtitles[video].words[0].text for video in corpus.subtitles} == {
        "latte-intro": "latte",
        "tea-intro": "tea",
    }
    for found in (corpus.annotations, corpus.windows):
        assert [found[key][0].interval.start_s for key in sorted(found)] == [0.0, 1.0]
        assert sorted(found) == [VideoKey("latte", "latte-intro"), VideoKey("tea", "tea-intro")]
    assert not [problem for problem in problems_of_files(tmp_path)[1] if "belongs to no listed video" in problem.message]


@pytest.mark.parametrize("content", ["one film", "two films"])
@pytest.mark.parametrize(("one", "other"), [("IMG_1", "img_1"), ("caf\u00e9", "Cafe\u0301")])
def test_ids_are_no_names_of_one_file_on_a_disk_that_does_not_tell_case(tmp_path, one, other, content):
    """Two cameras; the features of one would replace those of the other there."""
    write_corpus_toml(tmp_path / "corpus.toml", {name: Task(name, name, ("pour milk", "stir")) for name in ("latte", "tea")})
    for task, name in (("latte", one), ("tea", other)):
        (tmp_path / "videos" / task).mkdir(parents=True)
        (tmp_path / "videos" / task / f"{name}.mp4").write_text("film" if content == "one film" else name)
    assert [video.id for video in open_corpus(tmp_path).videos] == [f"latte-{one}", f"tea-{other}"]
    (tmp_path / "videos" / "tea" / f"{other.upper()}.mov").write_text("third")
    assert [video.id for video in open_corpus(tmp_path).videos] == [f"latte-{one}", f"tea-{other.upper()}"]


@pytest.mark.parametrize("own", [True, False])
def test_subtitles_in_the_folder_of_another_task_are_not_those_of_a_video(tmp_path, own):
    """Such as those of a video that was deleted; cameras call the videos of all tasks IMG_0001."""
    write_corpus_toml(tmp_path / "corpus.toml", {name: Task(name, name, ("pour milk", "stir")) for name in ("latte", "tea")})
    for task, names in (("latte", ["IMG_1.mp4"] + ["IMG_1.vtt"] * own), ("tea", ["IMG_1.vtt", "other.mp4", "other.en.vtt"])):
        (tmp_path / "videos" / task).mkdir(parents=True)
        for name in names:
            (tmp_path / "videos" / task / name).write_text(f"WEBVTT\n\n00:01.000 --> 00:02.000\n{task}\n")
    corpus = open_corpus(tmp_path)
    assert {video.id for video in corpus.videos} == {"IMG_1", "other"}
    assert {video: said.words[0].text for video, said in corpus.subtitles.items() if video != "other.en"} == {
        **({"IMG_1": "latte"} if own else {}),
        "other": "tea",
    }


@pytest.mark.parametrize("own", [["a"], []])
def test_windows_of_ones_own_go_first_video_by_video(tmp_path, own):
    tasks = {"tea": Task("tea", "Make Tea", ("pour water",))}
    write_corpus_toml(tmp_path / "corpus.toml", tasks)
    (tmp_path / "videos.csv").write_text("tea,a,\ntea,b,\n")
    made = {VideoKey("tea", name): [StepInterval(0, Interval(1, 5))] for name in "ab"}
    write_windows(tmp_path / ".crosstask" / "constraints", tasks, made)
    (tmp_path / "constraints").mkdir()
    for name in own:
        (tmp_path / "constraints" / f"tea_{name}.csv").write_text("1,3,9\n")
    windows = open_corpus(tmp_path).windows
    assert {key.video: windows[key][0].interval.start_s for key in windows} == {"a": 3 if own else 1, "b": 1}


def test_a_corpus_toml_in_another_encoding_says_what_to_do(tmp_path):
    (tmp_path / "corpus.toml").write_bytes('[tasks.tea]\nsteps = ["pour"]\n'.encode("utf-16"))
    with pytest.raises(InputError, match=r"corpus\.toml: not UTF-8 text; save it as UTF-8"):
        open_corpus(tmp_path)


def test_an_empty_folder_of_features_does_not_hide_extracted_ones(tmp_path):
    write_corpus_toml(tmp_path / "corpus.toml", {"tea": Task("tea", "Make Tea", ("pour water",))})
    (tmp_path / "features").mkdir()
    write_rows(tmp_path / ".crosstask" / "features" / "a.npy", np.zeros((3, 2), np.float32))
    assert "a" in read_corpus_toml(tmp_path).features


@pytest.mark.parametrize("forbidden", ["features", "annotations", "constraints", "videos/latte"])
def test_a_forbidden_folder_is_an_error_and_not_an_empty_one(tmp_path, monkeypatch, forbidden):
    """Training would otherwise go on without its windows, without a word."""
    (tmp_path / "corpus.toml").write_text('[tasks.latte]\nsteps = ["pour milk"]\n')
    (tmp_path / "videos.csv").write_text("latte,v,\n")
    (tmp_path / forbidden).mkdir(parents=True)

    def refusing(listed):
        def call(path="."):
            if os.fspath(path) == str(tmp_path / forbidden):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return listed(path)

        return call

    for name in ("listdir", "scandir"):
        monkeypatch.setattr(os, name, refusing(getattr(os, name)))
    with pytest.raises(PermissionError):
        repr(open_corpus(tmp_path))


@pytest.mark.parametrize("value", ['"false"', '"no"', "0", "[]"])
def test_related_is_true_or_false(tmp_path, value):
    folder = corpus_folder(tmp_path, f'[tasks.tea]\nrelated = {value}\nsteps = ["pour"]\n')
    with pytest.raises(InputError, match="expected related = true or false, without quotes"):
        open_corpus(folder)


@pytest.mark.parametrize(
    ("layout", "name"),
    [
        *(
            ("release", name)
            for name in ("crosstask_release/videos_val.csv", "crosstask_constraints", "crosstask_subtitles", ".crosstask")
        ),
        *(("corpus.toml", name) for name in ("annotations", "constraints", "features", "videos/1", "video_seconds.csv")),
    ],
)
def test_a_part_on_a_disk_that_is_not_mounted_is_not_taken_for_missing(tmp_path, layout, name):
    write_corpus(tiny_corpus(), tmp_path / "c", layout)
    place = tmp_path / "c" / name
    if place.exists():
        place.rename(tmp_path / "unmounted")
    place.parent.mkdir(exist_ok=True)
    place.symlink_to("/mnt/not-mounted/part")
    with pytest.raises(
        InputError, match=rf"{name}: a link to /mnt/not-mounted/part, which is not there; mount that disk, or remove the link"
    ):
        open_corpus(tmp_path / "c")


@pytest.mark.parametrize("form", ["{key} = 1", "[{key}]", "x = {{ {key} = 1 }}", "{quoted} = 1"])
def test_a_key_of_many_parts_is_refused_at_once(tmp_path, form):
    key, quoted = ".".join(["a"] * 90_000), " . ".join(['"a"'] * 90_000)
    (tmp_path / "corpus.toml").write_text(
        "[tasks.latte]\nsteps = [\"pour milk..............................\", 'x']\n" + form.format(key=key, quoted=quoted) + "\n"
    )
    with pytest.raises(InputError, match="a key has more than 20 parts"):
        open_corpus(tmp_path)


def test_dots_in_texts_and_comments_are_no_keys(tmp_path):
    (tmp_path / "corpus.toml").write_text(
        f'# {"." * 30}\n[tasks.latte]\ntitle = """a\n{"b." * 30}"""\nsteps = ["pour {"." * 30}", \'{"c." * 30}\', "\\"{"d." * 30}"]\n'
    )
    assert len(open_corpus(tmp_path).tasks["latte"].steps) == 3
