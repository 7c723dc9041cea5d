"""Word vectors from co-occurrence counts: the factorisation against a dense SVD, and bytes that do not depend on the number of threads."""

import numpy as np
import pytest
import scipy.sparse.linalg
from threadpoolctl import threadpool_info, threadpool_limits

from crosstask.records import InputError
from crosstask.text.encoders.cooccurrence import cooccurrence_vectors

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def documents(n_words: int = 40) -> list[str]:
    rng = np.random.default_rng(0)
    words = [f"word{LETTERS[i % 26]}{LETTERS[i // 26]}" for i in range(n_words)]
    return [" ".join(words[i] for i in rng.integers(n_words, size=300)) for _ in range(4)]


def test_the_product_of_the_vectors_is_the_truncated_ppmi_matrix(monkeypatch: pytest.MonkeyPatch):
    seen = []
    original = scipy.sparse.linalg.svds
    monkeypatch.setattr(
        scipy.sparse.linalg, "svds", lambda ppmi, **options: seen.append(ppmi.toarray()) or original(ppmi, **options)
    )
    found = cooccurrence_vectors(documents())
    u, s, _ = np.linalg.svd(seen[0])
    k = found.vectors.shape[1]
    expected = (u[:, :k] * s[:k]) @ u[:, :k].T
    assert np.allclose(found.vectors @ found.vectors.T, expected, atol=1e-4)


def test_the_factorisation_runs_on_one_thread(monkeypatch: pytest.MonkeyPatch):
    threads = []
    original = scipy.sparse.linalg.svds

    def watched(*arguments, **options):
        threads.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return original(*arguments, **options)

    monkeypatch.setattr(scipy.sparse.linalg, "svds", watched)
    with threadpool_limits(limits=2):
        cooccurrence_vectors(documents())
    assert threads and set(threads) == {1}


def test_too_few_words_are_refused():
    with pytest.raises(InputError, match="3 different words are too few"):
        cooccurrence_vectors(["one two three one two three"])
