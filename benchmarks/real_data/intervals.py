"""Intervals found by the default method and by the paper's compared with fixed lengths, paired over splits. Writes JSON.

python -m benchmarks.real_data.intervals DATA/breakfast SPEECH_CORPUS --out results/intervals.json

SPEECH_CORPUS is a folder written by benchmarks.real_data.speech_corpus.

Breakfast has real features and simulated windows; the speech corpus is CrossTask's Shelves and Toast, real annotation, speech as features. People
(videos of the speech corpus) are dealt in turn to two halves: the rule and its constants were chosen on the first, `--half development`; the second,
`--half final`, is the one reported. Splits within a half overlap, so intervals are optimistic.
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
from crosstask.metrics.intervals import best_iou
from crosstask.model.localization import localization_of
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
    methods = {"hmm": HiddenMarkovModel(), "zhukov19": Zhukov19(settings=SETTINGS)}
    for name, method in methods.items():
        scorer = method.fit(train, np.random.default_rng(seed))
        for task in corpus.tasks:
            spacing = float(np.mean([corpus.n_segments(v) / len(corpus.tasks[task].steps) for v in train.videos_of(task)]))
            for key, value in one_task(corpus, scorer, [v for v in split.test if v.task == task], spacing).items():
                figures.setdefault(f"{name}: {key}", []).append(value)
    return {key: float(np.mean(values)) for key, values in figures.items()}


def one_task(corpus: Corpus, scorer: Scorer, tested: list[Video], spacing: float) -> dict[str, float]:
    """Overlap of the intervals and of the two fixed lengths with the truth, on one task."""
    overlaps: dict[str, list[float]] = {"interval IoU": [], "T/K of the video, IoU": [], "mean spacing of the task, IoU": []}
    for video in tested:
        task = corpus.task_of(video)
        scores = scorer.score(task, np.asarray(corpus.features.rows(video.id)))
        found = localization_of(task, scores, video.id)
        n = len(scores)
        lengths = {"T/K of the video, IoU": n / len(task.steps), "mean spacing of the task, IoU": spacing}
        for k, step in enumerate(found.steps):
            truths = [
                Interval(a.interval.start_s, min(a.interval.end_s, n)) for a in corpus.annotations[video.key] if a.step == k
            ]
            if truths:
                overlaps["interval IoU"].append(best_iou(Interval(step.start_s, step.end_s), truths))
                for name, length in lengths.items():
                    overlaps[name].append(best_iou(around(step.segment + 0.5, length, n), truths))
    return {name: float(np.mean(values)) for name, values in overlaps.items()}


def around(middle: float, length: float, n_segments: int) -> Interval:
    """A fixed length around a moment, cut to the video."""
    return Interval(max(0.0, middle - length / 2), min(float(n_segments), middle + length / 2))


PAIRS = [
    ("hmm: interval IoU", "hmm: T/K of the video, IoU"),
    ("hmm: interval IoU", "hmm: mean spacing of the task, IoU"),
    ("zhukov19: interval IoU", "zhukov19: T/K of the video, IoU"),
    ("zhukov19: interval IoU", "zhukov19: mean spacing of the task, IoU"),
]


def summary(corpus: Corpus, draw: Callable[[Corpus, np.random.Generator], Split], n_splits: int) -> dict[str, object]:
    """Means over splits, and paired differences."""
    runs = []
    for seed in range(n_splits):
        runs.append(one_split(corpus, draw(corpus, np.random.default_rng(seed)), seed))
        print(seed, {k: round(v, 3) for k, v in runs[-1].items()}, flush=True)
    figures = {key: [run[key] for run in runs] for key in runs[0]}
    return {
        "figures": {key: run_statistics(values) for key, values in figures.items()},
        "differences": {f"{a} - {b}": paired_difference(figures[a], figures[b]) for a, b in PAIRS},
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
        "what": "IoU of intervals, mean over tasks; fractions; see the script for the halves",
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
