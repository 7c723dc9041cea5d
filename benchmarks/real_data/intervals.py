"""Intervals and absent steps found by the default method (and intervals by the paper's) compared with simple rules, paired over splits. Writes JSON.

python -m benchmarks.real_data.intervals DATA/breakfast SPEECH_CORPUS --out results/intervals.json

SPEECH_CORPUS is a folder written by benchmarks.real_data.speech_corpus.

Breakfast has real features and simulated windows; the speech corpus is CrossTask's Shelves and Toast, real annotation, speech as rows. People (videos of
the speech corpus) are dealt in turn to two halves: the rule and its constants were chosen on the first, `--half development`; the second, `--half
final`, is the one reported. Splits within a half overlap, so intervals are optimistic.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.real_data.breakfast_zhukov19 import SETTINGS
from benchmarks.scripts import arguments_of

from crosstask import open_corpus
from crosstask.evaluation.paired import paired_difference, run_statistics
from crosstask.evaluation.splits import Split, group_of, group_split, paper_split
from crosstask.features.packed_corpus import with_packed_features
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.protocols import Scorer
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.metrics.intervals import absence_f1, best_iou, random_f1
from crosstask.model.localization import absence_thresholds_of, localization_of
from crosstask.records import Corpus, Interval, Video
from crosstask.storage import write_json

HALVES = {"development": 0, "final": 1}


def half_of_people(corpus: Corpus, half: str) -> Corpus:
    """The videos of every second person."""
    people = set(sorted({group_of(video) for video in corpus.videos})[HALVES[half] :: 2])
    return corpus.only([video for video in corpus.videos if group_of(video) in people])


def half_of_videos(corpus: Corpus, half: str) -> Corpus:
    """Every second video of each task."""
    kept = [v for t in corpus.tasks for v in sorted(corpus.videos_of(t), key=lambda v: v.id)[HALVES[half] :: 2]]
    return replace(corpus.only(kept), validation=frozenset())


def one_split(corpus: Corpus, split: Split, seed: int) -> dict[str, float]:
    """Every figure of one split, each the mean over tasks."""
    train = corpus.only(split.train)
    figures: dict[str, list[float]] = {}
    methods = {"best": HiddenMarkovModel(), "paper": Zhukov19(settings=SETTINGS)}
    for name, method in methods.items():
        scorer = method.fit(train, np.random.default_rng(seed))
        for task in corpus.tasks:
            spacing = float(np.mean([corpus.n_segments(v) / len(corpus.tasks[task].steps) for v in train.videos_of(task)]))
            for key, value in one_task(corpus, scorer, [v for v in split.test if v.task == task], spacing).items():
                if name == "best" or "IoU" in key:
                    figures.setdefault(f"{name}: {key}", []).append(value)
    return {key: float(np.mean(values)) for key, values in figures.items()}


def one_task(corpus: Corpus, scorer: Scorer, tested: list[Video], spacing: float) -> dict[str, float]:
    """Overlap of the spans and of the two fixed lengths, and F1 of absence, on one task."""
    overlaps: dict[str, list[float]] = {"span IoU": [], "T/K of the video, IoU": [], "mean spacing of the task, IoU": []}
    said, absent, hits = [], [], []
    for video in tested:
        task = corpus.task_of(video)
        scores = scorer.score(task, np.asarray(corpus.features.rows(video.id)))
        found = localization_of(task, scores, video.id, absence_thresholds_of(scorer, task))
        n = len(scores)
        lengths = {"T/K of the video, IoU": n / len(task.steps), "mean spacing of the task, IoU": spacing}
        for k, step in enumerate(found.steps):
            truths = [
                Interval(a.interval.start_s, min(a.interval.end_s, n)) for a in corpus.annotations[video.key] if a.step == k
            ]
            said.append(not step.shown)
            absent.append(not truths)
            hits.append(any(step.segment in a.segments(n) for a in truths))
            if truths:
                overlaps["span IoU"].append(best_iou(Interval(step.start_s, step.end_s), truths))
                for name, length in lengths.items():
                    overlaps[name].append(best_iou(around(step.segment + 0.5, length, n), truths))
    s, a, h = np.array(said), np.array(absent), np.array(hits)
    return {name: float(np.mean(values)) for name, values in overlaps.items()} | {
        "absent F1": absence_f1(s, a),
        "absent F1, random at the same rate": random_f1(s, a),
        "absent F1, all declared": absence_f1(np.ones_like(s), a),
        "share declared absent": float(s.mean()),
        "share absent": float(a.mean()),
        "right moment, of those declared absent": float(h[s].mean()) if s.any() else 0.0,
        "right moment, of the others": float(h[~s].mean()),
    }


def around(middle: float, length: float, n_segments: int) -> Interval:
    """A fixed length around a moment, cut to the video."""
    return Interval(max(0.0, middle - length / 2), min(float(n_segments), middle + length / 2))


PAIRS = [
    ("best: span IoU", "best: T/K of the video, IoU"),
    ("best: span IoU", "best: mean spacing of the task, IoU"),
    ("paper: span IoU", "paper: T/K of the video, IoU"),
    ("paper: span IoU", "paper: mean spacing of the task, IoU"),
    ("best: absent F1", "best: absent F1, random at the same rate"),
    ("best: absent F1", "best: absent F1, all declared"),
]


def summary(corpus: Corpus, draw: Callable[[Corpus, np.random.Generator], Split], n_splits: int) -> dict[str, object]:
    """Means over splits, and paired differences; "none absent" has F1 0 by definition."""
    runs = []
    for seed in range(n_splits):
        runs.append(one_split(corpus, draw(corpus, np.random.default_rng(seed)), seed))
        print(seed, {k: round(v, 3) for k, v in runs[-1].items()}, flush=True)
    figures = {key: [run[key] for run in runs] for key in runs[0]}
    return {
        "figures": {key: run_statistics(values) for key, values in figures.items()},
        "differences": {f"{a} - {b}": paired_difference(figures[a], figures[b]) for a, b in PAIRS},
        "best: absent F1 - none declared (0)": paired_difference(figures["best: absent F1"], [0.0] * n_splits),
    }


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("breakfast", type=Path)
    parser.add_argument("speech", type=Path)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--half", choices=sorted(HALVES), default="final")
    arguments = parser.parse_args()
    breakfast = half_of_people(with_packed_features(open_corpus(arguments.breakfast)), arguments.half)
    speech = half_of_videos(with_packed_features(open_corpus(arguments.speech)), arguments.half)
    result = {
        "what": "spans (IoU) and absent steps (F1), mean over tasks; fractions; see the script for the halves and rules",
        "command": f"python -m benchmarks.real_data.intervals DATA/breakfast SPEECH_CORPUS --splits {arguments.splits}"
        f" --half {arguments.half} --out results/intervals.json",
        "half": arguments.half,
        "seeds": list(range(arguments.splits)),
        "breakfast": summary(breakfast, group_split, arguments.splits),
        "shelves and toast, speech as features": summary(speech, paper_split, arguments.splits),
    }
    write_json(arguments.out, result)
    print(json.dumps({k: v for k, v in result.items() if k != "seeds"}, indent=1))


if __name__ == "__main__":
    main()
