import pytest

from crosstask.experiments.few_videos.design import draw_folds, group_of, inner_groups, part_of_split, task_sets, training_videos
from crosstask.records import InputError
from experiments.few_videos.people import people_corpus


def test_every_person_is_tested_in_exactly_one_fold():
    folds = draw_folds(people_corpus(), 2, 1, 3, 0)
    assert sorted(g for fold in folds for g in fold.test_groups) == ["P1", "P2", "P3", "P4"]
    assert all(fold.tasks == ("1", "2", "3", "4") for fold in folds)


def test_a_task_without_enough_training_videos_is_not_evaluated():
    corpus = people_corpus()
    corpus = corpus.only([v for v in corpus.videos if v.task != "2" or v.id.startswith(("P1_", "P2_"))])
    folds = draw_folds(corpus, 2, 1, 3, 0)
    assert all("2" not in fold.tasks for fold in folds), "four videos of two people leave at most two to train on"


def test_kitchens_are_the_second_part_of_the_id():
    corpus = people_corpus()
    assert group_of(corpus.videos[0], part_of_split("group:2")) == "E1"
    assert sorted(f.test_groups for f in draw_folds(corpus, 2, 2, 1, 0)) == [("E0",), ("E1",)]


def test_larger_numbers_contain_smaller_ones_and_held_out_people_never_train():
    corpus = people_corpus()
    one, three, beside, everything = (
        set(training_videos(corpus, ["P1"], ["1", "2"], count, beside, 1, 0, 30))
        for count, beside in ((1, False), (3, False), (3, True), (None, True))
    )
    assert one < three < beside < everything and len(one) == 2 and len(three) == 6 and len(beside) == 6 + 12
    assert not any(v.id.startswith("P1_") for v in everything) and {v.task for v in three} == {"1", "2"}


def test_no_videos_of_a_set_when_none_are_asked_for():
    corpus = people_corpus()
    assert {v.task for v in training_videos(corpus, ["P1"], ["1"], 0, True, 1, 0, 30)} == {"2", "3", "4"}


def test_inner_groups_are_never_the_tested_ones():
    assert set(inner_groups(people_corpus(), ["P1", "P2"], 1, 0)) < {"P3", "P4"}


def test_sets_cover_all_tasks_once():
    folds = draw_folds(people_corpus(), 2, 1, 3, 0)
    assert sorted(task for tasks in task_sets(folds, 3, 0) for task in tasks) == ["1", "2", "3", "4"]


@pytest.mark.parametrize(("folds", "fewest", "message"), [(9, 1, "4 groups"), (2, 50, "no task has 50 training videos")])
def test_what_cannot_be_drawn_is_explained(folds, fewest, message):
    with pytest.raises(InputError, match=message):
        draw_folds(people_corpus(), folds, 1, fewest, 0)


@pytest.mark.parametrize("text", ["people", "group:0", "group:x", "paper"])
def test_other_splits_are_refused(text):
    with pytest.raises(InputError, match="expected group"):
        part_of_split(text)
