"""A small corpus of four people in two kitchens and four tasks that share words; easy to see, with descriptions and a task graph."""

import numpy as np

from crosstask.datasets import write_release
from crosstask.features import FeaturesInMemory, write_rows
from crosstask.records import Corpus, Interval, StepInterval, Task, Video

STEPS = {
    "1": ("pour milk", "stir coffee", "pour coffee"),
    "2": ("boil water", "pour water", "stir tea"),
    "3": ("boil milk", "stir milk", "pour tea"),
    "4": ("pour water", "boil coffee", "stir water"),
}


def people_corpus(n_videos=2, n_dimensions=8, n_segments=24, seed=0):
    rng = np.random.default_rng(seed)
    look = {word: rng.standard_normal(n_dimensions) for steps in STEPS.values() for step in steps for word in step.split()}
    tasks = {
        t: Task(t, f"Task {t}", steps, order=((0, 1),), descriptions=tuple(f"{s.split()[0]}-{s} for 1 minute" for s in steps))
        for t, steps in STEPS.items()
    }
    videos, features, annotations, windows = [], {}, {}, {}
    for task, steps in STEPS.items():
        for person in range(1, 5):
            for i in range(n_videos):
                video = Video(task, f"P{person}_E{person % 2}_{task}_{i}")
                rows = 0.3 * rng.standard_normal((n_segments, n_dimensions))
                found = []
                for k, step in enumerate(steps):
                    start = int((k + rng.uniform(0.1, 0.5)) * n_segments / len(steps))
                    rows[start : start + 4] += 3 * np.mean([look[word] for word in step.split()], axis=0)
                    found.append(StepInterval(k, Interval(start, start + 4)))
                videos.append(video)
                features[video.id] = rows.astype(np.float32)
                annotations[video.key] = tuple(found)
                windows[video.key] = tuple(
                    StepInterval(s.step, Interval(max(0, s.interval.start_s - 2), s.interval.end_s + 2)) for s in found
                )
    return Corpus("people", tasks, tuple(videos), frozenset(), {}, annotations, windows, {}, FeaturesInMemory(features))


def write_people(folder, **described):
    corpus = people_corpus(**described)
    write_release(corpus, folder)
    for video in corpus.videos:
        write_rows(folder / "crosstask_features" / f"{video.id}.npy", corpus.features.rows(video.id))
    return corpus
