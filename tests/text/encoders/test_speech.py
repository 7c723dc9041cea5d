"""Speech as features, by hand."""

import numpy as np

from crosstask.records import Cue, Narration, Word
from crosstask.text.encoders.cooccurrence import cooccurrence_vectors
from crosstask.text.encoders.speech import speech_features
from crosstask.text.encoders.tfidf import fit_tfidf


def test_rows_hold_current_and_surrounding_words() -> None:
    texts = ["pour", "milk", "stir", "serve"]
    words = tuple(Word(text, start, start + 1.0) for text, start in zip(texts, (1.0, 2.0, 3.0, 9.0), strict=True))
    cues = (Cue(0, 1, 1.0, 2.0), Cue(1, 2, 2.0, 3.0), Cue(2, 3, 3.0, 4.0), Cue(3, 3, 5.0, 6.0), Cue(3, 4, 9.0, 10.0))
    encoder = fit_tfidf(texts)
    rows = speech_features(Narration(words, cues), 10, encoder)
    around = encoder.encode(["pour milk", "pour milk stir", "milk stir serve", "stir serve"])
    np.testing.assert_array_equal(rows[:, 4:], around[[0, 0, 1, 2, 2, 2, 2, 3, 3, 3]])
    np.testing.assert_array_equal(rows[[1, 2, 3, 9], :4], encoder.encode(texts))
    assert not rows[[0, 4, 5, 6, 7, 8], :4].any()


def test_narration_without_words_is_zero() -> None:
    assert speech_features(Narration(()), 3, fit_tfidf(["a b"])).shape == (3, 4)


def test_words_in_similar_contexts_get_similar_vectors() -> None:
    rng = np.random.default_rng(0)
    company = {"eggs": ["whisk", "bowl", "crack"], "yolks": ["whisk", "bowl", "crack"], "screws": ["drill", "wall", "board"]}
    documents = [" ".join([name, *rng.permutation(friends)]) for _ in range(40) for name, friends in company.items()]
    documents += [f"word{i} word{i + 1}" for i in range(30)] * 2
    table = cooccurrence_vectors(documents)
    unit = table.vectors / np.linalg.norm(table.vectors, axis=1, keepdims=True)
    eggs, yolks, screws = (unit[table.number[name]] for name in company)
    assert eggs @ yolks > 0.5 > eggs @ screws + 0.3
