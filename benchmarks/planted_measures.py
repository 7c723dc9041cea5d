"""Real measurements and the same measurements on both planted worlds, side by side; no weakly supervised method takes part. Writes JSON.

CROSSTASK_DATA=DATA python benchmarks/planted_measures.py --out results/planted-measures.json

Windows and talk: Build Simple Floating Shelves and Make French Toast, real transcripts and annotation. Looks: Breakfast's features; planted rows
are drawn for its step lists and timelines, and of them the columns that see motion are measured, as Breakfast's are of motion.
Supervised: recall of the linear model on true intervals at the paper's shape (primary tasks), rate and dropout chosen on validation videos.
"""

import argparse
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from statistics import fmean

import numpy as np
import numpy.typing as npt
from planted_look_measures import filmed, look_measures
from planted_window_measures import real_windows, window_measures

from crosstask.datasets import open_corpus
from crosstask.evaluation.evaluate import evaluate
from crosstask.evaluation.splits import paper_split, validation_videos
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.order_only import Uniform
from crosstask.methods.supervised import Supervised
from crosstask.records import Corpus, Video
from crosstask.storage import write_json
from crosstask.synthetic import DIFFICULTIES, MEASURED, Shape, generate_corpus, generate_without_features
from crosstask.synthetic import appearance as first
from crosstask.synthetic import measured as second
from crosstask.synthetic.random_streams import generator
from crosstask.text.stems import stem

PRIMARY_OF_PAPER = Shape("paper", 18, 0, 30, 30, 10, 0)
RATES, DROPOUTS, FIT_SEED, FIT_COLUMNS = (3e-4,), (0.3, 0.7), 1000, 512
EDGES_S = (0, 1e-9, 10, 20, 40, 80, 160)  # seconds from the nearest use of a thing; the first bin is its use
JOINING = {"in", "from", "on", "to", "with"}
Rows = Callable[[Video], npt.NDArray[np.floating]]


def window_table(real: Corpus) -> dict[str, dict[str, float]]:
    table = {name: window_measures(real, windows) for name, windows in real_windows(real).items()}
    for name, difficulty in (("planted, first world", "default"), ("planted, measured world", "measured-default")):
        corpus = generate_without_features("paper", difficulty, 0)
        table[name] = window_measures(corpus, corpus.windows)
    return table


def talk_of_things(real: Corpus) -> dict[str, float]:
    """How often a thing of a step is said, by the seconds from its nearest use, beside its mean rate over words; mean over things."""
    counts: dict[tuple[str, str], npt.NDArray[np.float64]] = {}
    for video in real.videos:
        if video.id not in real.subtitles or video.key not in real.annotations:
            continue
        said = [(stem(word.text.lower().strip(".,?!")), word.start_s) for word in real.subtitles[video.id].words]
        names = [[stem(w) for w in step.split()[1:] if w not in JOINING] for step in real.task_of(video).steps]
        for thing in {word for name in names for word in name}:
            spans = [part.interval for part in real.annotations[video.key] if thing in names[part.step]]
            for word, at in said if spans else ():
                away = min(max(0.0, span.start_s - at, at - span.end_s) for span in spans)
                table = counts.setdefault((video.task, thing), np.zeros((2, len(EDGES_S) + 1)))
                table[:, np.digitize(away, EDGES_S)] += (word == thing, 1)
    rates = [(said / np.maximum(words, 1) / (said.sum() / words.sum()))[1:] for said, words in counts.values() if said.sum() > 30]
    names = ["in use", *(f"from {a:.0f} s" for a in EDGES_S[1:])]
    return {name: round(fmean(float(rate[i]) for rate in rates), 3) for i, name in enumerate(names)}


def rows_of_first_world(corpus: Corpus) -> Rows:
    looks = {task.id: first.look_of_task(task.id, task.steps, 0) for task in corpus.tasks.values()}
    lens = first.camera(200, DIFFICULTIES["default"], 0)

    def rows(video: Video) -> npt.NDArray[np.floating]:
        rng, truth = generator(0, "breakfast", video.id), corpus.annotations[video.key]
        pictures = first.draw_pictures(looks[video.task], truth, corpus.n_segments(video), DIFFICULTIES["default"], rng)
        return first.take_rows(pictures, lens, rng)[:, :64]

    return rows


def rows_of_measured_world(corpus: Corpus) -> Rows:
    looks = {task.id: second.measured_look(task.id, task.steps, 0) for task in corpus.tasks.values()}
    lens = second.measured_camera(200, MEASURED["measured-default"], 0)

    def rows(video: Video) -> npt.NDArray[np.floating]:
        rng, truth = generator(0, "breakfast", video.id), corpus.annotations[video.key]
        n_seconds = corpus.n_segments(video)
        pictures = second.draw_measured_pictures(looks[video.task], truth, n_seconds, MEASURED["measured-default"], rng)
        return second.take_measured_rows(pictures, lens, rng)[:, :64]

    return rows


def look_table(breakfast: Corpus) -> dict[str, dict[str, float]]:
    steps = {task.id: task.steps for task in breakfast.tasks.values()}
    sources: dict[str, Rows] = {
        "real, mean over the second (64)": lambda video: breakfast.features.rows(video.id)[:, :64],
        "real, all columns (192)": lambda video: breakfast.features.rows(video.id),
        "planted, first world": rows_of_first_world(breakfast),
        "planted, measured world": rows_of_measured_world(breakfast),
    }
    return {name: look_measures(filmed(breakfast, rows), steps) for name, rows in sources.items()}


def supervised(difficulty: str) -> dict[str, float]:
    """Recall on the test videos with the rate and dropout that were best on the validation videos, and what they were."""
    corpus = generate_corpus(PRIMARY_OF_PAPER, difficulty, FIT_SEED, FIT_COLUMNS)
    split = paper_split(corpus, np.random.default_rng([FIT_SEED, 0]), PRIMARY_OF_PAPER.train_videos_per_task)
    train, tries = corpus.only(split.train), []
    for rate in RATES:
        for dropout in DROPOUTS:
            settings = AlternationSettings(learning_rate=rate, dropout=dropout, initial_epochs=0, epochs=30)
            scorer = Supervised("component", settings).fit(train, np.random.default_rng([FIT_SEED, 1]))
            on = [
                evaluate(corpus, scorer, videos).to_json()["recall"]["mean"] for videos in (validation_videos(corpus), split.test)
            ]
            tries.append((*on, rate, dropout))
    uniform = evaluate(corpus, Uniform().fit(train, np.random.default_rng(0)), split.test).to_json()["recall"]["mean"]
    validation, test, rate, dropout = max(tries)
    figures = {"recall": test, "validation": validation, "uniform": uniform, "learning_rate": rate, "dropout": dropout}
    return {name: round(value, 4) for name, value in figures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    data = Path(os.environ["CROSSTASK_DATA"])
    real = open_corpus(data / "crosstask")
    result = {
        "what": "real data beside the synthetic planted worlds, measured alike; nothing here looks at a weakly supervised method",
        "command": f"CROSSTASK_DATA=DATA python benchmarks/planted_measures.py --out results/{arguments.out.name}",
        "seeds": {"windows": 0, "looks": 0, "supervised": FIT_SEED},
        "windows": window_table(real),
        "talk_of_things": talk_of_things(real),
        "looks": look_table(open_corpus(data / "breakfast")),
        "difficulties": {name: asdict(difficulty) for name, difficulty in MEASURED.items()},
    }
    write_json(arguments.out, result)
    fits = {name: supervised(name) for name in ("default", "measured-default")}
    write_json(arguments.out, result | {"supervised, paper shape, 512 columns": fits, "supervised in the paper": 0.316})


if __name__ == "__main__":
    main()
