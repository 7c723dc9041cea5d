from dataclasses import replace
from pathlib import Path

import pytest

from crosstask.datasets import open_corpus
from crosstask.datasets.corpus_writer import LAYOUTS, STAGING, write_corpus
from crosstask.datasets.subtitles.timeline import DisplayedCue, narration_from_cues, untimed_words
from crosstask.records import Corpus, InputError, Interval, NoFeatures, StepInterval, Task, Video
from crosstask.storage import nonblocking_lock
from tiny import tiny_corpus


@pytest.mark.parametrize("layout", ["release", "corpus.toml"])
@pytest.mark.parametrize("name", ["corpus.toml", "crosstask_release/tasks_primary.txt", "crosstask_release/videos.csv"])
def test_lists_that_cannot_be_read_are_not_overwritten(tmp_path, layout, name):
    """A person is writing them: a conversion that was killed leaves whole files."""
    mine = tmp_path / name
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("[tasks.tea\nsteps = [")
    with pytest.raises(InputError, match="expected a new folder"):
        write_corpus(tiny_corpus(), tmp_path, layout)
    assert mine.read_text() == "[tasks.tea\nsteps = [" and len(list(tmp_path.rglob("*.*"))) == 1


@pytest.mark.parametrize("layout", LAYOUTS)
def test_commas_quotes_and_line_breaks_in_names_are_read_back(tmp_path, layout):
    task = Task("tea", "Make\nTea", ("boil\nwater", "pour"), "http://x\n7")
    video = Video("tea", 'Tea, part "1"', "http://x/a,b")
    found = (StepInterval(1, Interval(0.0, 0.0004)),)
    corpus = Corpus("tea", {"tea": task}, (video,), frozenset(), {video.id: 20}, {video.key: found}, {video.key: found})
    write_corpus(corpus, tmp_path, layout)
    read = open_corpus(tmp_path)
    assert read.videos == (video,) and read.n_segments(video) == 20
    assert read.annotations[video.key] == read.windows[video.key] == found
    steps = ("boil\nwater", "pour") if layout == "corpus.toml" else ("boil water", "pour")
    assert read.tasks["tea"].steps == steps


@pytest.mark.parametrize("layout", ["release", "corpus.toml"])
def test_a_conversion_that_was_killed_before_its_list_of_videos_is_repeated(tmp_path, layout):
    write_corpus(tiny_corpus(), tmp_path, layout)
    for path in tmp_path.rglob("videos.csv"):
        path.unlink()
    write_corpus(tiny_corpus(), tmp_path, layout)
    assert len(open_corpus(tmp_path).videos) == len(tiny_corpus().videos)


@pytest.fixture
def source():
    """A corpus with every part that a conversion writes."""
    said = narration_from_cues([DisplayedCue(1.0, 2.0, (untimed_words("pour milk"),))])
    return replace(tiny_corpus(videos_per_task=1), subtitles={"-v1_0": said}, feature_spec="log-mel")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_repeated_conversion_overwrites_nothing_that_was_changed(source, layout, tmp_path):
    write_corpus(source, tmp_path / "out", layout)
    files = sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file() and not path.name.startswith("."))
    assert len(files) > 10 and {path.suffix for path in files} >= {".npy", ".vtt", ".csv", ".txt"}
    for path in files:
        before = path.read_bytes()
        path.write_bytes(before + b"\n")
        with pytest.raises(InputError, match="would be lost"):
            write_corpus(source, tmp_path / "out", layout)
        assert path.read_bytes() == before + b"\n"
        path.write_bytes(before)
    write_corpus(source, tmp_path / "out", layout)
    assert not (tmp_path / "out" / STAGING).exists()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["features/other.npy", "annotations/1_x.csv", "crosstask_subtitles/x.vtt", "published.json"])
def test_a_first_conversion_is_not_mixed_with_files_of_the_user(source, layout, name, tmp_path):
    mine = tmp_path / "out" / name
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(InputError, match="expected a new folder"):
        write_corpus(source, tmp_path / "out", layout)
    assert mine.read_text() == "mine"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_features_and_subtitles_that_the_source_lost_are_not_left_in_a_repeated_conversion(source, layout, tmp_path):
    write_corpus(source, tmp_path / "out", layout)
    for part in ({"features": NoFeatures()}, {"subtitles": {}}, {"windows": {}}):
        with pytest.raises(InputError, match=r"(is not written by|differs from what) this conversion"):
            write_corpus(replace(source, **part), tmp_path / "out", layout)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_a_killed_conversion_left_is_replaced(source, layout, tmp_path):
    left = tmp_path / "out" / STAGING / "crosstask_features" / "half.npy"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    write_corpus(source, tmp_path / "out", layout)
    assert not list((tmp_path / "out").rglob("half.npy"))


@pytest.mark.parametrize(
    ("layout", "place"), [("release", "crosstask_features/-v1_0.npy"), ("corpus.toml", "annotations/1_-v1_0.csv")]
)
def test_a_first_conversion_overwrites_no_files_of_the_user(tmp_path, layout, place):
    (tmp_path / place).parent.mkdir()
    (tmp_path / place).write_text("mine")
    with pytest.raises(InputError, match=f"{Path(place).name}: differs from what this conversion writes"):
        write_corpus(tiny_corpus(), tmp_path, layout)
    assert (tmp_path / place).read_text() == "mine" and [path.name for path in tmp_path.iterdir()] == [Path(place).parts[0]]


def test_two_conversions_do_not_write_one_folder_at_the_same_time(tmp_path):
    with nonblocking_lock(tmp_path / "out"), pytest.raises(BlockingIOError):
        write_corpus(tiny_corpus(), tmp_path / "out", "release")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("one", "other"), [("brew_tea", "brew-tea"), ("tea", "Tea")])
def test_tasks_whose_files_would_be_the_same_are_refused(source, tmp_path, one, other):
    tasks = {task_id: replace(task, id=task_id) for task_id, task in zip((one, other), source.tasks.values(), strict=False)}
    with pytest.raises(InputError, match="two task ids differ only in '_' and '-', or in case"):
        write_corpus(replace(source, tasks=tasks, videos=()), tmp_path / "out", "corpus.toml")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("title", "url", "step"),
    [("Make\nLatte", "a\nb", "pour\nmilk"), (' "Latte"', "http://x/?a=1,2", "pour 'milk'"), ("é", '"', "#1")],
)
def test_what_was_written_is_read_as_what_it_was(source, layout, title, url, step, tmp_path):
    tasks = {i: replace(task, title=title, url=url, steps=(step, *task.steps[1:])) for i, task in source.tasks.items()}
    short = (StepInterval(0, Interval(0, 0.0002)), StepInterval(1, Interval(1.23456, 4)))
    key, videos = source.videos[0].key, tuple(replace(video, url=url) for video in source.videos)
    write_corpus(replace(source, tasks=tasks, videos=videos, annotations={key: short}), tmp_path / "out", layout)
    read = open_corpus(tmp_path / "out")
    assert {task.title.strip() for task in read.tasks.values()} == {" ".join(title.split())} or layout == "corpus.toml"
    assert {" ".join(task.steps[0].split()) for task in read.tasks.values()} == {" ".join(step.split())}
    assert {video.url for video in read.videos} == {" ".join(url.split())}
    assert [(i.step, round(i.interval.end_s, 4)) for i in read.annotations[key]] == [(0, 0.0002), (1, 4)]


def test_a_corpus_that_would_be_read_as_another_is_refused(source, tmp_path):
    key = source.videos[0].key
    late = replace(source, annotations={key: (StepInterval(99, Interval(1, 2)),)})
    with pytest.raises(InputError, match=r"corpus 'tiny' cannot be written as release: .*step 100 does not exist"):
        write_corpus(late, tmp_path / "out", "release")
    assert not list((tmp_path / "out").glob("*"))


@pytest.mark.parametrize("layout", ["release", "corpus.toml"])
def test_a_folder_with_other_files_such_as_a_run_is_no_place_for_a_corpus(tmp_path, layout):
    out = tmp_path / "run"
    out.mkdir()
    (out / "run.json").write_text("{}")
    with pytest.raises(InputError, match=r"holds run\.json, which is not of this corpus; expected a new folder"):
        write_corpus(tiny_corpus(), out, layout)
    assert [path.name for path in out.iterdir() if not path.name.endswith(".lock")] == ["run.json"]
