from pathlib import Path

import numpy as np
import pytest

from crosstask.records import (
    Corpus,
    InputError,
    Task,
    Video,
    choice_argument,
    corpus_argument,
    flag_argument,
    list_argument,
    number_argument,
    path_argument,
    text_argument,
    whole_argument,
)


def test_sound_arguments_pass_unchanged():
    assert path_argument("a/b", "a folder") == path_argument(Path("a/b"), "a folder") == Path("a/b")
    assert whole_argument(np.int64(3), "runs") == 3 and number_argument(np.float32(0.5), "dropout") == 0.5
    assert choice_argument(None, "decoder", ["once"]) is None and choice_argument("once", "decoder", ["once"]) == "once"


@pytest.mark.parametrize("value", [None, 7, 1.5, b"x", [], {}, object(), np.zeros(3), "", "a\0b", "\ud800"])
def test_what_is_no_path_is_named(value):
    with pytest.raises(InputError, match="path; expected a model file"):
        path_argument(value, "a model file")


@pytest.mark.parametrize("value", [None, True, -1, 11, 10**400, 1.0, "3", [], np.zeros(3), object()])
def test_what_is_no_whole_number_in_range_is_named(value):
    with pytest.raises(InputError, match=r"runs is .*; expected a whole number from 0 to 10"):
        whole_argument(value, "runs", most=10)


@pytest.mark.parametrize("value", [None, True, float("nan"), float("inf"), 10**400, "3", [], np.zeros(3), object()])
def test_what_is_no_finite_number_is_named(value):
    with pytest.raises(InputError, match=r"rate is .*; expected a finite number"):
        number_argument(value, "rate")


@pytest.mark.parametrize("value", ["", "nosuch", 7, [], object()])
def test_an_unknown_choice_lists_the_known_ones(value):
    with pytest.raises(InputError, match="expected one of once, free"):
        choice_argument(value, "decoder", ["once", "free"])


def test_a_folder_name_is_no_corpus():
    with pytest.raises(InputError, match=r"a str is not a corpus; expected what open_corpus\(FOLDER\) returns"):
        corpus_argument("kitchen")


@pytest.mark.parametrize("identifier", [1, None, b"a", "", "a/b", "..", "x" * 5000, 1.5, ("a", "b")])
@pytest.mark.parametrize("kind", ["task", "video"])
def test_ids_that_no_file_could_hold_are_refused_before_the_work(identifier, kind):
    task, video = (identifier, "v") if kind == "task" else ("a", identifier)
    corpus = Corpus("odd", {task: Task(task, "a", ("pour", "stir"))}, (Video(task, video),))
    with pytest.raises(InputError, match=f"{kind} id .* cannot name a file"):
        corpus_argument(corpus)


def test_ids_that_do_not_agree_are_named():
    task = Task("a", "a", ("pour", "stir"))
    for tasks, video, message in (
        ({"b": task}, Video("b", "v"), "task id 'a' under 'b'"),
        ({"a": task}, Video("c", "v"), "video v: its task 'c' is not in corpus 'odd'"),
    ):
        with pytest.raises(InputError, match=message):
            corpus_argument(Corpus("odd", tasks, (video,)))


@pytest.mark.parametrize("value", ["1_abc", b"1_abc", 5, object()])
def test_what_is_no_list_of_videos_is_named(value):
    with pytest.raises(InputError, match=r"videos is .*; expected a list of videos, each TASK_VIDEO"):
        list_argument(value, "videos")
    assert list_argument(("1_abc",), "videos") == ["1_abc"]


@pytest.mark.parametrize("value", [[[]], [np.zeros(3)], [{}]])
def test_a_list_of_what_cannot_be_a_video_is_refused(value):
    with pytest.raises(InputError, match=r"videos lists .*; expected videos, each TASK_VIDEO"):
        list_argument(value, "videos")


@pytest.mark.parametrize("value", [None, 1, "no", np.zeros(2), []])
def test_what_is_no_truth_value_is_named(value):
    with pytest.raises(InputError, match=r"narration is .*; expected True or False"):
        flag_argument(value, "narration")
    assert flag_argument(np.bool_(True), "narration") is True


@pytest.mark.parametrize("value", [None, 1, b"x", np.zeros(2), []])
def test_what_is_no_text_is_named(value):
    with pytest.raises(InputError, match=r"title is .*; expected a title, as text"):
        text_argument(value, "title", "a title")
