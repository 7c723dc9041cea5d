"""Speech as features, by hand."""

import numpy as np

from crosstask.records import Cue, Narration, Word
from crosstask.text.encoders.cooccurrence import cooccurrence_vectors
from crosstask.text.encoders.speech import speech_features
from crosstask.text.encoders.tfidf import fit_tfidf


def test_each_second_holds_the_vector_of_its_cue_and_silence_is_zero() -> None:
    words = (Word("pour", 1.0, 2.0), Word("milk", 2.0, 3.4), Word("stir", 5.0, 6.0))
    said = Narration(words, (Cue(0, 2, 1.0, 3.4), Cue(2, 3, 5.0, 6.0), Cue(3, 3, 6.0, 7.0)))
    encoder = fit_tfidf(["pour milk", "stir"])
    rows = speech_features(said, 8, encoder)
    assert rows.shape == (8, 3)
    np.testing.assert_array_equal(rows[1:4], np.repeat(encoder.encode(["pour milk"]), 3, axis=0))
    np.testing.assert_array_equal(rows[5], encoder.encode(["stir"])[0])
    assert not rows[[0, 4, 6, 7]].any()


def test_silence_throughout_is_zeros() -> None:
    assert speech_features(Narration(()), 3, fit_tfidf(["a b"])).shape == (3, 2)


def test_words_in_like_company_get_like_vectors() -> None:
    rng = np.random.default_rng(0)
    company = {"eggs": ["whisk", "bowl", "crack"], "yolks": ["whisk", "bowl", "crack"], "screws": ["drill", "wall", "board"]}
    documents = [" ".join([name, *rng.permutation(friends)]) for _ in range(40) for name, friends in company.items()]
    documents += [f"word{i} word{i + 1}" for i in range(30)] * 2
    table = cooccurrence_vectors(documents)
    unit = table.vectors / np.linalg.norm(table.vectors, axis=1, keepdims=True)
    eggs, yolks, screws = (unit[table.number[name]] for name in company)
    assert eggs @ yolks > 0.5 > eggs @ screws + 0.3
