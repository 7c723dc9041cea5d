"""A run of one method with known confidences, and a person who knows the truth."""

import numpy as np

from crosstask.records import FoundStep, Interval, Localization, StepInterval, StepLabel, Task
from crosstask.runs import Run, RunFolder, RunVideo, label_of, open_run, write_run

N_SEGMENTS = 60
TASKS = {
    "1": Task("1", "Make Latte", ("pour milk", "stir coffee", "pour coffee", "serve")),
    "2": Task("2", "Make Tea", ("boil water", "pour water")),
}


def write_random_run(folder, seed=0, videos_per_task=10, calibrated=True):
    """Answers that are right as often as their confidence says, or independently of it."""
    rng = np.random.default_rng(seed)
    videos, found = [], []
    for task in TASKS.values():
        for i in range(videos_per_task):
            starts = np.sort(rng.choice(np.arange(1, N_SEGMENTS - 6), len(task.steps), replace=False))
            truth = tuple(StepInterval(k, Interval(float(s), float(s + 4))) for k, s in enumerate(starts))
            steps = [_found(rng, name, span.interval, calibrated) for name, span in zip(task.steps, truth, strict=True)]
            videos.append(RunVideo(task.id, f"v{i}", N_SEGMENTS, None, truth))
            found.append(Localization(f"v{i}", task.id, steps))
    write_run(folder, Run("A run", "run", "crosstask run", seed, True, TASKS, tuple(videos), ("hmm",)), {"hmm": found})
    return open_run(folder)


def _found(rng, name, interval, calibrated):
    confidence = float(rng.beta(2, 1))
    right = rng.random() < (confidence if calibrated else 0.6)
    moment = interval.start_s + 1 if right else (interval.start_s + N_SEGMENTS / 2) % (N_SEGMENTS - 1)
    return FoundStep(name, float(moment), -1.0, float(moment), float(moment + 2), True, confidence, 0.9)


def truth_of(run: RunFolder, key, step):
    """The label that an attentive person gives."""
    video = next(video for video in run.run.videos if video.key == key)
    intervals = tuple(span.interval for span in video.truth if span.step == step)
    return StepLabel(step, intervals=intervals)


def answer(run: RunFolder, item):
    """Label one item of the queue with the truth."""
    said = label_of(item.step, item.found, truth_of(run, item.key, item.step), N_SEGMENTS)
    return run.labels.append(item.key, [said], "review", item.drawn)


def true_accuracy(run: RunFolder):
    from crosstask.runs import answer_is_right

    found = run.machine_localizations["hmm"]
    return np.mean([answer_is_right(s, truth_of(run, key, k)) for key, f in found.items() for k, s in enumerate(f.steps)])
