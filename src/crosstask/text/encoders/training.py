"""Training of the paper's sentence encoder on how-to articles, in NumPy.

    loss = sum_i 1/|S_i| sum_{j in S_i, k in D_i} max(0, cos(f_i, f_k) - cos(f_i, f_j) + h)            supplement

S_i: other sentences of the paragraph of sentence i; D_i: sentences of other paragraphs of its page. All triplets of a page are handled
at once, through the gradient dL/dC of the matrix of cosines C (n, n). The gradient of the maximum goes to the word that attains it.
Adam takes one step for a few pages.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.records import InputError
from crosstask.storage import single_thread
from crosstask.text.encoders.articles import Page
from crosstask.text.encoders.learned import FILTERS, LearnedEncoder, Matrix, Parameters
from crosstask.text.encoders.word_vectors import WordVectors

_MIN_PAGES = 10  # ours: one is held out, nine train
_MOST_SENTENCES = (
    1000  # ours: in an article, of which every three are compared; those of wikiHow that were counted have at most 40
)
_TRIPLETS_AT_ONCE = 2**24  # ours: 128 MiB an array; every page of 256 sentences fits
Progress = Callable[[int, float, float], None]  # epoch, training loss, held-out triplets satisfied


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of the training."""

    margin: float = 0.1  # supplement: h
    filters: int = FILTERS  # supplement: d
    epochs: int = 6  # ours; the held-out share of triplets has flattened by then
    learning_rate: float = 1e-3  # ours; halves over the epochs
    pages_a_step: int = 8  # ours
    word_dropout: float = 0.2  # ours; makes sentences as short as step names
    held_out: float = 0.1  # ours; share of the pages used for evaluation only


@dataclass(frozen=True)
class TrainingReport:
    """Learning curves: mean triplet loss per epoch, and the share of held-out triplets satisfied, before training and per epoch."""

    loss: tuple[float, ...]
    held_out_satisfied: tuple[float, ...]
    held_out_pages: tuple[str, ...]
    settings: TrainingSettings

    def to_json(self) -> dict[str, Any]:
        """JSON values, without the page titles."""
        return {
            "loss": list(self.loss),
            "held_out_triplets_satisfied": list(self.held_out_satisfied),
            "held_out_pages": len(self.held_out_pages),
            "settings": asdict(self.settings),
        }


@dataclass(frozen=True)
class _Batch:
    """Words of a page's sentences: rows of the table, first word of each sentence, and paragraph of each sentence."""

    rows: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    paragraph: npt.NDArray[np.int64]


@single_thread()
def train_encoder(
    pages: Sequence[Page],
    table: WordVectors,
    rng: np.random.Generator,
    settings: TrainingSettings | None = None,
    progress: Progress | None = None,
) -> tuple[LearnedEncoder, TrainingReport]:
    """The encoder trained on pages, and its learning curves; the bytes do not depend on the number of threads."""
    settings = settings or TrainingSettings()
    usable = [(page.title, batch) for page in pages if (batch := _batch(page, table)) is not None]
    if len(usable) < _MIN_PAGES:
        raise InputError(
            f"{len(usable)} articles with two paragraphs and two sentences in one; expected at least {_MIN_PAGES} to train on"
        )
    order = rng.permutation(len(usable))
    n_held = max(1, round(settings.held_out * len(usable)))
    held, training = [usable[i] for i in order[:n_held]], [usable[i] for i in order[n_held:]]
    state = _Adam(_initial(table.vectors.shape[1], settings.filters, rng), settings)
    losses, satisfied = [], [triplets_satisfied(state.parameters, table, [batch for _, batch in held])]
    for epoch in range(settings.epochs):
        losses.append(_epoch(state, table, [batch for _, batch in training], rng, epoch))
        satisfied.append(triplets_satisfied(state.parameters, table, [batch for _, batch in held]))
        if progress is not None:
            progress(epoch + 1, losses[-1], satisfied[-1])
    report = TrainingReport(tuple(losses), tuple(satisfied), tuple(title for title, _ in held), settings)
    return LearnedEncoder(table, state.parameters), report


def _batch(page: Page, table: WordVectors) -> _Batch | None:
    """The words of a page, or None if it contains no triplet."""
    sentences = [(p, rows) for p, group in enumerate(page.paragraphs) for s in group if (rows := table.rows_of(s))]
    if len(sentences) > _MOST_SENTENCES:
        raise InputError(f"article '{page.title}': {len(sentences)} sentences; expected at most {_MOST_SENTENCES}, so split it")
    paragraph = np.array([p for p, _ in sentences], dtype=np.int64)
    if len(set(paragraph.tolist())) < 2 or len(set(paragraph.tolist())) == len(paragraph):
        return None
    lengths = np.array([len(rows) for _, rows in sentences])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    return _Batch(np.concatenate([np.array(rows) for _, rows in sentences]), starts, paragraph)


def _initial(d0: int, d: int, rng: np.random.Generator) -> Parameters:
    """Initial parameters: random filters with unit output variance, and the identity as second map."""
    W1 = (rng.standard_normal((d, d0)) / np.sqrt(d0)).astype(np.float32)
    return Parameters(W1, np.zeros(d, np.float32), np.eye(d, dtype=np.float32), np.zeros(d, np.float32))


def _forward(p: Parameters, x: Matrix, starts: npt.NDArray[np.int64]) -> tuple[Matrix, Matrix, Matrix]:
    """Filter outputs of the words (words, d), their maxima (n, d), and the outputs of the n sentences (n, d)."""
    z = x @ p.W1.T + p.b1  # (words, d0)(d0, d)
    pooled = np.maximum.reduceat(z, starts, axis=0)  # (n, d)
    return z, pooled, pooled @ p.W2.T + p.b2


def triplet_loss(C: Matrix, paragraph: npt.NDArray[np.int64], margin: float) -> tuple[float, Matrix, int]:
    """Loss of a page, its gradient w.r.t. the cosines C (n, n), and the number of triplets."""
    loss, n_triplets, gradient = 0.0, 0, np.empty(C.shape, np.float32)
    for rows in _rows_at_once(len(C)):
        triplet, weight = _triplets(paragraph, rows)
        excess = C[rows, None, :] - C[rows, :, None] + margin  # (i, j, k)
        active = (triplet & (excess > 0)) * weight[:, None, None]
        loss += float((excess * active).sum())
        gradient[rows] = active.sum(axis=1) - active.sum(axis=2)
        n_triplets += int(triplet.sum())
    return loss, gradient, n_triplets


def _rows_at_once(n: int) -> list[slice]:
    """Sentences of a page whose triplets are handled at once: all, unless the page is long."""
    step = max(1, _TRIPLETS_AT_ONCE // max(n * n, 1))
    return [slice(first, min(first + step, n)) for first in range(0, n, step)]


def _triplets(paragraph: npt.NDArray[np.int64], rows: slice) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """True where (i, j, k) is a triplet (rows, n, n), and 1 / |S_i| (rows,), for some sentences i."""
    same = paragraph[rows, None] == paragraph
    other = ~same
    same[np.arange(len(same)), np.arange(rows.start, rows.stop)] = False
    return same[:, :, None] & other[:, None, :], 1 / np.maximum(same.sum(axis=1), 1)


def page_gradient(p: Parameters, x: Matrix, batch: _Batch, margin: float) -> tuple[float, Parameters, int]:
    """Loss of a page, its gradient w.r.t. the parameters, and the number of triplets; x (words, d0)."""
    z, pooled, g = _forward(p, x, batch.starts)
    length = np.maximum(np.linalg.norm(g, axis=1, keepdims=True), 1e-6)
    f = g / length
    loss, dC, n = triplet_loss(f @ f.T, batch.paragraph, margin)
    df = (dC + dC.T) @ f
    dg = (df - f * (f * df).sum(axis=1, keepdims=True)) / length
    dpooled = dg @ p.W2
    sentence = np.repeat(np.arange(len(batch.starts)), np.diff([*batch.starts, len(x)]))
    attained = (z == pooled[sentence]).astype(np.float32)  # repeated words share the gradient
    attained /= np.add.reduceat(attained, batch.starts, axis=0)[sentence]
    dz = attained * dpooled[sentence]
    return loss, Parameters(dz.T @ x, dz.sum(axis=0), dg.T @ pooled, dg.sum(axis=0)), n


def triplets_satisfied(p: Parameters, table: WordVectors, batches: Sequence[_Batch]) -> float:
    """Share of triplets in which the sentence of the same paragraph is the nearer one."""
    n_satisfied, total = 0.0, 0
    for batch in batches:
        g = _forward(p, table.vectors[batch.rows], batch.starts)[2]
        f = g / np.maximum(np.linalg.norm(g, axis=1, keepdims=True), 1e-6)
        C = f @ f.T
        for rows in _rows_at_once(len(C)):
            triplet, _ = _triplets(batch.paragraph, rows)
            n_satisfied += float((triplet & (C[rows, :, None] > C[rows, None, :])).sum())
            total += int(triplet.sum())
    return n_satisfied / max(total, 1)


def _epoch(state: "_Adam", table: WordVectors, batches: Sequence[_Batch], rng: np.random.Generator, epoch: int) -> float:
    """Mean triplet loss over one epoch of training."""
    settings = state.settings
    rate = settings.learning_rate * 0.5 ** (epoch / max(settings.epochs - 1, 1))
    loss, triplets = 0.0, 0
    order = rng.permutation(len(batches))
    for first in range(0, len(order), settings.pages_a_step):
        total: Parameters | None = None
        count = 0
        for i in order[first : first + settings.pages_a_step]:
            batch = batches[i]
            keep = rng.random((len(batch.rows), 1)) >= settings.word_dropout
            page_loss, gradient, n = page_gradient(state.parameters, table.vectors[batch.rows] * keep, batch, settings.margin)
            loss, triplets, count = loss + page_loss, triplets + n, count + n
            total = gradient if total is None else _sum(total, gradient)
        if total is not None and count:
            state.step(total, 1 / count, rate)
    return loss / max(triplets, 1)


def _sum(a: Parameters, b: Parameters) -> Parameters:
    return Parameters(a.W1 + b.W1, a.b1 + b.b1, a.W2 + b.W2, a.b2 + b.b2)


class _Adam:
    """Adam (Kingma and Ba 2015) over the four arrays, with the constants of its authors: 0.9, 0.999, 1e-8."""

    def __init__(self, parameters: Parameters, settings: TrainingSettings) -> None:
        self.parameters = parameters
        self.settings = settings
        self._first = {name: np.zeros_like(value) for name, value in vars(parameters).items()}
        self._second = {name: np.zeros_like(value) for name, value in vars(parameters).items()}
        self._steps = 0

    def step(self, gradient: Parameters, scale: float, rate: float) -> None:
        self._steps += 1
        new = {}
        for name, value in vars(self.parameters).items():
            g = getattr(gradient, name) * np.float32(scale)
            m = self._first[name] = 0.9 * self._first[name] + 0.1 * g
            v = self._second[name] = 0.999 * self._second[name] + 0.001 * g * g
            unbiased = m / (1 - 0.9**self._steps), v / (1 - 0.999**self._steps)
            new[name] = (value - rate * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)).astype(np.float32)
        self.parameters = Parameters(**new)
