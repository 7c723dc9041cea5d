"""Features and narration of the tested videos together, against each alone. Writes JSON.

python -m benchmarks.real_data.joint_decoding DATA --out results/joint-decoding.json

Corpora: captaincook (real features; windows are simulated) with people, and with tasks, of the final half held out, and vlogs (real times of
narration) with the channels of the final half held out. Windows of the tested captaincook videos are of three kinds: those that lie beside the data;
redrawn from the offsets between saying and doing measured on vlogs, with correlated errors within a step and none for steps that are not shown (also
simulated); and those of another video of the task, scaled to the length (no information). The last two are drawn 20 times, and recall is
averaged over the draws, so that intervals measure tasks rather than one draw.

Training uses the windows beside the data. "Narration" takes the middle of the window, or even spacing where a step has none. Intervals are over
tasks: differences of recall per task, tasks drawn with replacement.
"""

from dataclasses import replace
from pathlib import Path
from statistics import NormalDist

import numpy as np
from benchmarks.real_data.accuracy import CELLS, difference
from benchmarks.real_data.default_method import with_random_windows
from benchmarks.scripts import arguments_of, write_result

from crosstask import open_corpus
from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.features.packed_corpus import with_packed_features
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.order_only import Uniform
from crosstask.methods.protocols import Scorer
from crosstask.metrics.recall import StepRecall
from crosstask.metrics.truth import true_segments
from crosstask.narration.joint_decoding import fit_joint_decoder, window_centres
from crosstask.records import Corpus, Interval, StepInterval, Video

CORRELATION = 0.5  # of the errors of one step between videos
WINDOW_S = 9.0  # the paper's average
SEEDS = tuple(range(1, 21))  # draws of windows


def saying_offsets(vlogs: Corpus) -> np.ndarray:
    """Seconds from the middle of an action to the middle of the time at which it is named, sorted."""
    offsets = []
    for video in vlogs.videos:
        middles = {a.step: (a.interval.start_s + a.interval.end_s) / 2 for a in vlogs.annotations.get(video.key, ())}
        for window in vlogs.windows.get(video.key, ()):
            if window.step in middles:
                offsets.append((window.interval.start_s + window.interval.end_s) / 2 - middles[window.step])
    return np.sort(np.array(offsets))


def redrawn_windows(corpus: Corpus, offsets: np.ndarray, seed: int) -> Corpus:
    """A window for every shown step, displaced by an offset; the offsets of a step are correlated between videos (Gaussian copula)."""
    rng = np.random.default_rng(seed)
    of_step = {t: rng.normal(size=len(corpus.tasks[t].steps)) for t in sorted(corpus.tasks)}
    windows = {}
    for video in corpus.videos:
        n_segments = corpus.n_segments(video)
        found = []
        for k in sorted({a.step for a in corpus.annotations.get(video.key, ())}):
            shown = [a.interval for a in corpus.annotations[video.key] if a.step == k]
            middle = (shown[0].start_s + shown[0].end_s) / 2
            z = np.sqrt(CORRELATION) * of_step[video.task][k] + np.sqrt(1 - CORRELATION) * rng.normal()
            offset = float(np.quantile(offsets, NormalDist().cdf(z)))
            start = float(np.clip(middle + offset - WINDOW_S / 2, 0, max(n_segments - WINDOW_S, 0)))
            found.append(StepInterval(k, Interval(start, min(start + WINDOW_S, n_segments))))
        windows[video.key] = tuple(found)
    return replace(corpus, windows=windows)


def narration_alone(corpus: Corpus, tested: tuple[Video, ...]) -> dict[str, float]:
    """Recall by task when the middle of the window is the answer."""
    recall = StepRecall()
    for video in tested:
        n_segments, n_steps = corpus.n_segments(video), len(corpus.task_of(video).steps)
        if n_segments < n_steps:
            continue
        centres = window_centres(corpus, video)
        even = (np.arange(n_steps) + 0.5) * n_segments / n_steps
        moments = np.minimum(np.where(np.isnan(centres), even, centres).astype(int), n_segments - 1)
        recall.add(video.task, moments, true_segments(corpus, video))
    return recall.by_task()


def by_kind(corpus: Corpus, scorer: Scorer, tested: tuple[Video, ...]) -> dict[str, dict[str, float]]:
    """Recall by task of features, narration, and both."""
    joint = fit_joint_decoder(scorer, corpus, tested)
    return {
        "features": evaluate_videos(corpus, scorer, tested).by_metric["recall"],
        "narration": narration_alone(corpus, tested),
        "joint": evaluate_videos(corpus, scorer, tested, joint=joint).by_metric["recall"],
        "uniform": evaluate_videos(corpus, Uniform(), tested).by_metric["recall"],
    }


def cell(corpus: Corpus, name: str, which: str, kinds: dict[str, list[Corpus]], half: str) -> dict[str, dict]:
    """Kind of windows -> recall in percent by arm, and differences over tasks; `kinds` has the corpus with each draw of windows."""
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for split in CELLS[which][1](corpus, name, half):
        train = corpus.only_tasks({v.task for v in split.train}).only(split.train)
        scorer = HiddenMarkovModel().fit(train, np.random.default_rng(0))
        for kind, drawn in [(kind, drawn) for kind, draws in kinds.items() for drawn in draws]:
            for arm, recalls in by_kind(drawn, scorer, split.test).items():
                for task, value in recalls.items():
                    found.setdefault(kind, {}).setdefault(arm, {}).setdefault(task, []).append(value)
    result = {}
    for kind, arms in found.items():
        means = {arm: {"": {"recall": {t: float(np.mean(v)) for t, v in of.items()}}} for arm, of in arms.items()}
        recall = {arm: 100 * float(np.mean(list(of[""]["recall"].values()))) for arm, of in means.items()}
        better = "features" if recall["features"] >= recall["narration"] else "narration"
        result[kind] = {
            "recall": recall,
            "better of the two": better,
            "joint - features": difference(means["joint"], means["features"], [""]),
            "joint - narration": difference(means["joint"], means["narration"], [""]),
        }
        print(which, kind, result[kind], flush=True)
    return result


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument(
        "--half", choices=("development", "final"), default="final", help="settings are chosen on the development half"
    )
    arguments = parser.parse_args()
    half = arguments.half
    captaincook, vlogs = (with_packed_features(open_corpus(arguments.data / name)) for name in ("captaincook", "vlogs"))
    offsets = saying_offsets(vlogs)
    kinds = {
        "windows beside the data": [captaincook],
        "windows redrawn from vlogs": [redrawn_windows(captaincook, offsets, seed) for seed in SEEDS],
        "windows of another video": [with_random_windows(captaincook, seed) for seed in SEEDS],
    }
    result = {
        "captaincook, unseen people": cell(captaincook, "captaincook", "captaincook, windows", kinds, half),
        "captaincook, tasks never trained": cell(captaincook, "captaincook", "captaincook, never trained, windows", kinds, half),
        "vlogs, unseen channels": cell(vlogs, "vlogs", "vlogs, windows", {"real times of narration": [vlogs]}, half),
    }
    write_result(
        arguments.out,
        {
            "what": "step recall in %, mean over tasks, of features, narration and both; all captaincook windows are simulated",
            "command": "python -m benchmarks.real_data.joint_decoding DATA --out results/joint-decoding.json",
            "seeds": list(SEEDS),
            "offsets of vlogs, quantiles 0.1 0.5 0.9 in s": np.quantile(offsets, [0.1, 0.5, 0.9]).tolist(),
            "cells": result,
        },
    )


if __name__ == "__main__":
    main()
