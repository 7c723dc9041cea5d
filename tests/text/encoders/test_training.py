"""Training the paper's encoder: gradient against finite differences, and a language whose paragraphs can be learnt."""

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from crosstask.records import InputError
from crosstask.text.encoders import training
from crosstask.text.encoders.articles import Page, read_articles
from crosstask.text.encoders.learned import Parameters
from crosstask.text.encoders.training import TrainingSettings, _batch, page_gradient, train_encoder, triplet_loss
from crosstask.text.encoders.word_vectors import WordVectors


def test_triplet_loss_by_hand() -> None:
    C = np.array([[1, 0.5, 0.45], [0.5, 1, 0.9], [0.45, 0.9, 1]], np.float32)
    loss, gradient, n = triplet_loss(C, np.array([0, 0, 1]), margin=0.1)
    # anchor 0: 0.45 - 0.5 + 0.1 = 0.05; anchor 1: 0.9 - 0.5 + 0.1 = 0.5; anchor 2 has nobody near
    assert loss == pytest.approx(0.55, rel=1e-6)
    assert n == 2
    np.testing.assert_array_equal(gradient, [[0, -1, 1], [-1, 0, 1], [0, 0, 0]])


def test_a_long_page_is_handled_in_parts_with_the_same_result(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    C, paragraph = rng.random((30, 30), np.float32), rng.integers(0, 5, 30)
    whole = triplet_loss(C, paragraph, 0.1)
    monkeypatch.setattr(training, "_TRIPLETS_AT_ONCE", 7 * 30 * 30)
    loss, gradient, n = triplet_loss(C, paragraph, 0.1)
    assert loss == pytest.approx(whole[0]) and n == whole[2]
    np.testing.assert_array_equal(gradient, whole[1])


def test_the_triplets_of_a_long_page_fit_into_memory() -> None:
    C, paragraph = np.zeros((600, 600), np.float32), np.arange(600) // 10
    tracemalloc.start()
    try:
        triplet_loss(C, paragraph, -0.1)
        assert tracemalloc.get_traced_memory()[1] < 1e9
    finally:
        tracemalloc.stop()


def test_a_page_with_too_many_sentences_is_refused() -> None:
    table = WordVectors(("pour",), np.ones((1, 2), np.float32))
    page = Page("a book", (("pour",) * training._MOST_SENTENCES, ("pour",)))
    with pytest.raises(InputError, match="article 'a book': 1001 sentences; expected at most 1000, so split it"):
        _batch(page, table)


def synthetic_pages(rng: np.random.Generator, n_pages: int = 40) -> tuple[list[Page], WordVectors]:
    """Topics of six words each; a paragraph speaks of one topic, among noise words that all share."""
    topics = [[f"t{i}w{j}" for j in range(6)] for i in range(8)]
    noise = [f"noise{i}" for i in range(20)]
    words = sorted({word for topic in topics for word in topic} | set(noise))
    pages = []
    for i in range(n_pages):
        chosen = rng.choice(8, 3, replace=False)
        groups = []
        for topic in chosen:
            groups.append(tuple(" ".join([*rng.choice(topics[topic], 2), *rng.choice(noise, 4)]) for _ in range(3)))
        pages.append(Page(f"page {i}", tuple(groups)))
    return pages, WordVectors(tuple(words), rng.standard_normal((len(words), 20)).astype(np.float32))


def test_gradient_agrees_with_finite_differences() -> None:
    rng = np.random.default_rng(1)
    pages, table = synthetic_pages(rng, 1)
    batch = _batch(pages[0], table)
    assert batch is not None
    x = table.vectors[batch.rows].astype(np.float64)
    p = Parameters(*(rng.standard_normal(shape) * 0.4 for shape in ((7, 20), (7,), (7, 7), (7,))))
    loss, gradient, _ = page_gradient(p, x, batch, margin=0.1)
    assert loss > 0
    for name in ("W1", "b1", "W2", "b2"):
        value = getattr(p, name)
        for index in [tuple(rng.integers(0, n) for n in value.shape) for _ in range(4)]:
            moved = value.copy()
            moved[index] += 1e-6
            there = page_gradient(replace(p, **{name: moved}), x, batch, 0.1)[0]
            moved[index] -= 2e-6
            back = page_gradient(replace(p, **{name: moved}), x, batch, 0.1)[0]
            assert (there - back) / 2e-6 == pytest.approx(getattr(gradient, name)[index], rel=1e-3, abs=1e-4), name


def test_topics_are_learned_and_training_is_reproducible() -> None:
    pages, table = synthetic_pages(np.random.default_rng(2), 200)
    settings = TrainingSettings(filters=40, epochs=15, word_dropout=0.0, learning_rate=3e-3)
    encoder, report = train_encoder(pages, table, np.random.default_rng(0), settings)
    assert report.held_out_satisfied[-1] > 0.85 > report.held_out_satisfied[0]
    assert report.loss[-1] < report.loss[0] / 2
    again, _ = train_encoder(pages, table, np.random.default_rng(0), settings)
    assert again.identity == encoder.identity


def test_too_few_articles_are_rejected() -> None:
    pages, table = synthetic_pages(np.random.default_rng(3), 5)
    with pytest.raises(InputError, match=r"5 articles .* expected at least 10"):
        train_encoder(pages, table, np.random.default_rng(0))


def test_articles_are_split_into_sentences(tmp_path: Path) -> None:
    file = tmp_path / "articles.json"
    file.write_text(
        json.dumps([{"title": "Toast", "steps": [{"headline": "Cut it.", "sentences": ["Use a knife. Be careful!"]}]}])
    )
    assert read_articles(file) == [Page("Toast", (("Cut it.", "Use a knife.", "Be careful!"),))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1: not valid JSON"),
        ("{}", "found a dict; expected"),
        ('[{"title": 3, "steps": []}]', "article 1: a title or sentence is not text"),
        ('[{"title": "x"}]', "article 1: found"),
    ],
)
def test_invalid_articles_are_rejected(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read_articles(tmp_path / "a.json")


def test_training_runs_on_one_thread() -> None:
    pages, table = synthetic_pages(np.random.default_rng(3))
    threads: list[int] = []

    def watch(epoch: int, loss: float, satisfied: float) -> None:
        threads.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

    with threadpool_limits(limits=2):
        train_encoder(pages, table, np.random.default_rng(4), TrainingSettings(epochs=1), watch)
    assert threads and set(threads) == {1}
