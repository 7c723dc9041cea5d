"""A small run folder with everything the viewer can show, and a client of its viewer."""

from pathlib import Path

import numpy as np
import pytest

from crosstask.features import write_rows
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.order_only import Uniform
from crosstask.methods.supervised import Supervised
from crosstask.model.file import save_model
from crosstask.model.localization import localization_of
from crosstask.model.model import Model
from crosstask.pipeline.viewer_backend import build_backend, features_for_run
from crosstask.records import Cue, Narration, VideoKey, Word
from crosstask.runs import Run, RunVideo, open_run, write_run
from crosstask.viewer import viewer_app
from tiny import tiny_corpus

TestClient = pytest.importorskip("fastapi.testclient", reason="the extra 'serve' is not installed").TestClient
HERE = "http://127.0.0.1:8765"
QUICK = AlternationSettings(learning_rate=0.01, dropout=0.0, initial_epochs=5, epochs=5)
LINES = ("hello everyone", "first pour the milk", "now stir it well", "pour the coffee", "Vielen Dank & <b>bye</b>")
SAID = Narration(
    tuple(Word(word, 8.0 * i, 8.0 * i + 6) for i, line in enumerate(LINES) for word in line.split()),
    tuple(
        Cue(sum(len(x.split()) for x in LINES[:i]), sum(len(x.split()) for x in LINES[: i + 1]), 8.0 * i, 8.0 * i + 6)
        for i in range(len(LINES))
    ),
)
FIRST = {"task": "1", "video": "-v1_0"}


def write_viewed_run(folder: Path, features: bool = True, media: dict[str, str] | None = None, n_segments: int = 40) -> Path:
    """A run of two methods over the tiny corpus; `media` names a file for some video ids."""
    corpus = tiny_corpus(n_segments=n_segments)
    scorers = {"supervised": Supervised("component", QUICK).fit(corpus, np.random.default_rng(0)), "uniform": Uniform()}
    scores = [
        (name, video.key, scorer.score(corpus.task_of(video), corpus.features.rows(video.id)))
        for name, scorer in scorers.items()
        for video in corpus.videos
    ]
    localizations = {
        m: [localization_of(corpus.tasks[k.task], values, k.video) for name, k, values in scores if name == m] for m in scorers
    }
    videos = tuple(
        RunVideo(v.task, v.id, n_segments, (media or {}).get(v.id), corpus.annotations[v.key], corpus.windows[v.key])
        for v in corpus.videos
    )
    results = {"supervised": {"recall": {"mean": 0.5}}}
    run = Run("A tiny run", "demo", "crosstask demo", 0, True, corpus.tasks, videos, tuple(scorers), results, notes=("A note.",))
    write_run(folder, run, localizations, scores, {VideoKey("1", "-v1_0"): SAID})
    save_model(Model(scorers["supervised"], corpus.tasks, "supervised"), folder / "model.safetensors")
    if features:
        for video in corpus.videos:
            write_rows(folder / "features" / f"{video.id}.npy", corpus.features.rows(video.id))
    return folder


def app_of(folder: Path, other: Path | None = None, bound_to: str = "127.0.0.1"):
    """The viewer of a run folder, built as by `view`."""
    run = open_run(folder)
    model = folder / "model.safetensors"
    backend = build_backend(run, model if model.is_file() else None, features_for_run(run, None))
    return viewer_app(run, backend, open_run(other) if other else None, bound_to)


def client_of(folder: Path, **options):
    """A client of the viewer on this machine."""
    return TestClient(app_of(folder, **options), base_url=HERE)
