"""A tiny corpus on disk and in memory, with everything a real one has."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from crosstask.datasets import write_release
from crosstask.features import FeaturesInMemory, write_rows
from crosstask.model.localization import localization_of
from crosstask.records import Corpus, Interval, Localization, StepInterval, Task, TextSide, Video
from crosstask.runs import Run, RunVideo, write_run

TASKS = {
    "1": Task("1", "Make Latte", ("pour milk", "stir coffee", "pour coffee"), "http://x/1"),
    "2": Task("2", "Make Tea", ("boil water", "pour water"), "http://x/2"),
    "30": Task("30", "Make Cocoa", ("boil milk", "stir cocoa"), "http://x/30", primary=False),
}


def tiny_corpus(seed: int = 0, n_dimensions: int = 6, videos_per_task: int = 4, n_segments: int = 20) -> Corpus:
    """Videos whose steps are easy to see: a bump in the step's own direction, in order."""
    rng = np.random.default_rng(seed)
    videos, features, annotations, windows = [], {}, {}, {}
    directions = {word: rng.standard_normal(n_dimensions) for t in TASKS.values() for s in t.steps for word in s.split()}
    for task in TASKS.values():
        for i in range(videos_per_task):
            video = Video(task.id, f"-v{task.id}_{i}", f"http://y/{i}")
            rows = 0.1 * rng.standard_normal((n_segments, n_dimensions))
            found = []
            for k, step in enumerate(task.steps):
                centre = (k + rng.uniform(0.3, 0.7)) * n_segments / len(task.steps)
                interval = Interval(max(0.0, centre - 1.5), min(float(n_segments), centre + 1.5))
                for t in interval.segments(n_segments):
                    rows[t] += 3 * np.mean([directions[word] for word in step.split()], axis=0)
                found.append(StepInterval(k, Interval(round(interval.start_s, 2), round(interval.end_s, 2))))
            videos.append(video)
            features[video.id] = rows.astype(np.float32)
            annotations[video.key] = tuple(found)
            windows[video.key] = tuple(
                StepInterval(s.step, Interval(max(0, s.interval.start_s - 2), s.interval.end_s + 2)) for s in found
            )
    return Corpus(
        "tiny", TASKS, tuple(videos), frozenset({videos[0].key}), {}, annotations, windows, {}, FeaturesInMemory(features)
    )


def with_text_side(corpus: Corpus) -> Corpus:
    """The corpus with a text side that matches its features: the vector of a step name is the mean of its rows, of length one."""
    rows: dict[str, list[np.ndarray]] = {}
    for video in corpus.videos:
        features = np.asarray(corpus.features.rows(video.id))
        for found in corpus.annotations[video.key]:
            inside = found.interval.segments(len(features))
            rows.setdefault(corpus.tasks[video.task].steps[found.step], []).append(
                features[inside.start : inside.stop].mean(axis=0)
            )
    vectors = {name: np.mean(of_step, axis=0) / np.linalg.norm(np.mean(of_step, axis=0)) for name, of_step in rows.items()}
    width = features.shape[1]
    return replace(corpus, text_side=TextSide("clip:clip#00000000", 0, width, vectors))


def write_tiny(folder: Path, **described: int) -> Corpus:
    """The tiny corpus written in the published layout, features as well."""
    corpus = tiny_corpus(**described)
    write_release(corpus, folder)
    for video in corpus.videos:
        write_rows(folder / "crosstask_features" / f"{video.id}.npy", corpus.features.rows(video.id))
    return corpus


def tiny_run(folder: Path) -> tuple[Path, Run, list[Localization]]:
    """A run folder with three videos of the tiny corpus, its description and the localizations of its method 'proposed'."""
    corpus = tiny_corpus()
    videos, parses, scores = [], [], []
    for video in corpus.videos[:3]:
        values = np.random.default_rng(0).standard_normal((20, 3))
        videos.append(RunVideo(video.task, video.id, 20, None, corpus.annotations[video.key], corpus.windows[video.key]))
        parses.append(localization_of(corpus.task_of(video), values, video.id))
        scores.append(("proposed", video.key, values))
    run = Run(
        "a run",
        "demo",
        "crosstask demo",
        0,
        True,
        corpus.tasks,
        tuple(videos),
        ("proposed",),
        {"proposed": {"recall": {"mean": 0.5}}},
    )
    return write_run(folder, run, {"proposed": parses}, scores), run, parses
