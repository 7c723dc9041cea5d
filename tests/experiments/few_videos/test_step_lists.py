from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from crosstask.experiments.few_videos.step_lists import (
    reordered,
    with_graph_order,
    with_intervals_in_memory,
    with_permuted_words,
    with_published_names,
    with_training_order,
)
from crosstask.metrics.truth import true_segments
from crosstask.records import InputError, Interval, StepInterval
from experiments.few_videos.people import STEPS, people_corpus


def test_permuted_words_keep_words_per_step_and_steps_per_word_and_move_between_tasks():
    corpus = people_corpus()
    permuted = with_permuted_words(corpus, 3)
    before, after = ([step.split() for t in c.tasks.values() for step in t.steps] for c in (corpus, permuted))
    assert [len(words) for words in before] == [len(words) for words in after]
    assert Counter(w for words in before for w in words) == Counter(w for words in after for w in words)
    assert before != after and all(len(set(words)) == len(words) for words in after)
    assert with_permuted_words(corpus, 3).tasks == permuted.tasks != with_permuted_words(corpus, 4).tasks


def test_reordering_moves_names_annotation_windows_and_edges_together():
    corpus = people_corpus()
    moved = reordered(corpus, {task: [2, 0, 1] for task in corpus.tasks})
    video = corpus.videos[0]
    assert moved.tasks["1"].steps == tuple(STEPS["1"][k] for k in (2, 0, 1)) and moved.tasks["1"].order == ((1, 2),)
    assert np.array_equal(true_segments(moved, video), true_segments(corpus, video)[:, [2, 0, 1]])
    assert moved.windows[video.key][0].step == 1


def test_the_order_of_training_videos_ignores_all_others():
    corpus = people_corpus()
    swapped = {
        v.key: (StepInterval(0, Interval(20, 22)), StepInterval(1, Interval(1, 2)), StepInterval(2, Interval(8, 9)))
        for v in corpus.videos
        if v.id.startswith("P1_")
    }
    corpus = replace(corpus, annotations={**corpus.annotations, **swapped})
    of_first = with_training_order(corpus, [v for v in corpus.videos if v.id.startswith("P1_")])
    others = with_training_order(corpus, [v for v in corpus.videos if not v.id.startswith("P1_")])
    assert of_first.tasks["1"].steps == tuple(STEPS["1"][k] for k in (1, 2, 0)) and others.tasks["1"].steps == STEPS["1"]


def test_graph_order_keeps_the_edges():
    corpus = people_corpus()
    tasks = {t.id: replace(t, order=((2, 0),)) for t in corpus.tasks.values()}
    drawn = [with_graph_order(replace(corpus, tasks=tasks), seed).tasks["2"].steps for seed in range(12)]
    assert all(steps.index(STEPS["2"][2]) < steps.index(STEPS["2"][0]) for steps in drawn)
    assert len(set(drawn)) == 3, "the free step stands at each of its three places"
    with pytest.raises(InputError, match="no task graph"):
        with_graph_order(replace(corpus, tasks={t.id: replace(t, order=()) for t in tasks.values()}))


def test_published_names_need_descriptions():
    corpus = people_corpus()
    assert with_published_names(corpus).tasks["1"].steps == STEPS["1"], "the rule cuts 'for 1 minute'"
    with pytest.raises(InputError, match="no published descriptions"):
        with_published_names(replace(corpus, tasks={t.id: replace(t, descriptions=()) for t in corpus.tasks.values()}))


def test_intervals_in_memory_are_the_same():
    corpus = people_corpus()
    assert dict(with_intervals_in_memory(corpus).annotations) == dict(corpus.annotations)
