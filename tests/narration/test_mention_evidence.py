"""Cues against steps: three cues are enough, other times are discounted, windows fit short videos."""

import numpy as np
import pytest

from crosstask.narration.mention_evidence import (
    contrasted,
    headings,
    mention_centres,
    mention_scores,
    refers_to_another_time,
    shrunk_scores,
    spoken_centres,
    stem_shares,
    tfidf_cosines,
    with_neighbours,
)
from crosstask.records import Cue, Narration, Task, Word

STEPS = ("pour milk", "whisk eggs", "add sugar")
CUES = ("now we pour the milk", "whisking the eggs well", "then add some sugar")


def times(n, each=4.0):
    start = np.arange(n) * each
    return start, start + each


def test_three_cues_are_enough():
    scores = mention_scores(CUES, STEPS)
    assert scores.argmax(axis=0).tolist() == [0, 1, 2]
    centres, mentioned = spoken_centres(scores, *times(3), n_segments=12)
    assert ((centres >= [0, 4, 8]) & (centres < [4, 8, 12])).all()
    assert (mentioned > 0.5).all()


def test_a_mention_among_a_thousand_cues_is_found():
    cues = [f"something else number {i}" for i in range(1000)]
    cues[300], cues[600], cues[800] = CUES
    centres, mentioned = spoken_centres(mention_scores(cues, STEPS), *times(1000), n_segments=4000)
    assert np.abs(centres - np.array([1202, 2402, 3202])).max() < 8
    assert (mentioned > 0.9).all()


def test_an_unmentioned_step_is_unmentioned_with_few_cues_as_with_many():
    for filler in (0, 200):
        cues = [*CUES[:2], "thanks for watching", *["so here we are again"] * filler]
        mentioned = spoken_centres(mention_scores(cues, STEPS), *times(len(cues)), n_segments=4 * len(cues))[1]
        assert mentioned[2] < 0.5 < mentioned[:2].min()


def test_another_time_and_questions_count_less():
    later = mention_scores(["we will whisk the eggs later", CUES[0], CUES[1]], STEPS)
    assert later[2, 1] > later[0, 1]
    assert refers_to_another_time("How do you whisk eggs?")
    assert refers_to_another_time("before we whisk")
    assert not refers_to_another_time("whisk the eggs")


def test_a_title_is_not_taken_for_the_step_that_it_names():
    cues = ["Whisking Eggs", "Pour the milk.", "Take a bowl and whisk the eggs.", "Add some sugar."]
    scores = mention_scores(cues, STEPS)
    assert scores[:, 1].argmax() == 2
    unmarked = [cue.rstrip(".").lower() for cue in cues]  # recognised speech has no full stops
    assert not headings(unmarked).any() and mention_scores(unmarked, STEPS)[0, 1] - scores[0, 1] == pytest.approx(2.0)
    assert headings(["Pour the milk.", "“Whisk the eggs.”", "Adding Sugar"]).tolist() == [False, False, True]
    assert not headings(["Then pour the", "Milk.", "Whisk the eggs and then add some more sugar", "It is done.", "Enjoy."])[2]


def test_shared_words_weigh_less():
    shares = stem_shares(["the shelf"], ["cut shelf", "paint shelf", "sand shelf"])
    assert shares.max() < 0.5
    assert stem_shares(["we cut it"], ["cut shelf", "paint shelf", "sand shelf"])[0, 0] > 0.5


def test_encoder_vectors_decide_where_words_differ():
    vectors = np.eye(3)
    cues = ("liquid goes in", "beat them", "sweeten it")
    scores = mention_scores(cues, STEPS, (vectors, vectors, vectors))
    assert scores.argmax(axis=0).tolist() == [0, 1, 2]


def test_other_languages_by_their_own_stems():
    scores = stem_shares(["die Eier verquirlen"], ["Eier verquirlen", "Milch gießen"], "de")
    assert scores.round(2).tolist() == [[1.0, 0.0]]


def test_shrinking_needs_no_variance_in_the_video():
    assert np.isfinite(shrunk_scores(np.zeros((1, 2)), 0.1)).all()
    assert contrasted([[0.3]]).tolist() == [[0.3]]
    many = np.random.default_rng(0).normal(size=(5000, 1))
    assert shrunk_scores(many, 0.01).std() == pytest.approx(1, abs=0.01)


def test_empty_and_odd_texts():
    assert tfidf_cosines(["", "!!"], STEPS).tolist() == np.zeros((2, 3)).tolist()
    assert with_neighbours(["a", "b", "c"]) == ["a b", "a b c", "b c"]
    assert mention_scores(["", "♪"], STEPS).shape == (2, 3)


def test_what_is_said_after_the_end_of_the_video_mentions_no_step():
    starts_s = (2.0, 20.0, 60.0)  # of a video of 40 s
    words = tuple(Word(word, start_s, start_s + 4) for start_s, cue in zip(starts_s, CUES, strict=True) for word in cue.split())
    ends = np.cumsum([len(cue.split()) for cue in CUES]).tolist()
    cues = tuple(Cue(first, last, s, s + 4) for first, last, s in zip([0, *ends], ends, starts_s, strict=False))
    task = Task("7", "Bake", STEPS)
    _, whole = mention_centres(task, Narration(words, cues), 80, None)
    centres, mentioned = mention_centres(task, Narration(words, cues), 40, None)
    assert (whole > 0.9).all() and (mentioned[:2] > 0.9).all() and mentioned[2] < 0.1
    assert centres[0] < 10 and 18 < centres[1] < 28
