"""Statistics of the synthetic corpus and of the release, over several seeds. Writes JSON.

python -m benchmarks.synthetic.release_statistics --out results/synthetic-statistics.json
"""

from dataclasses import asdict

import numpy as np
from benchmarks.scripts import arguments_of

from crosstask.metrics.statistics import overall_statistics, task_statistics
from crosstask.records import Corpus, Interval
from crosstask.storage import write_json
from crosstask.synthetic import DIFFICULTIES, SHAPES, generate_without_features
from crosstask.text import vocabulary_of

# Counted on the release (lengths: primary and related videos), and the paper's supplement for the windows.
RELEASE = {
    "missing": 0.309,
    "background": 0.715,
    "order_consistency": 0.864,
    "intervals_outside_window": 0.61,
    "mean_window_s": 9.0,
    "window_iou": 0.079,
    "mean_log_seconds": 5.53,
    "deviation_log_seconds": 0.56,
    "mean_log_duration": 1.73,
    "deviation_log_duration": 0.99,
    "intervals_of_a_shown_step": 1.47,
    "uniform_recall": 0.0987,
    "components": 381,
    "steps_a_primary_task": 7.39,
    "steps_a_related_task": 8.78,
    "primary_steps_named_elsewhere": 0.53,
}


def windows_against_truth(corpus: Corpus) -> dict[str, float]:
    """Share of annotated intervals outside their window, mean length of windows, pooled intersection over union."""
    outside = shown = 0
    both = window_s = true_s = 0.0
    for key, truth in sorted(corpus.annotations.items()):
        for window in corpus.windows[key]:
            spans: list[Interval] = [part.interval for part in truth if part.step == window.step]
            overlaps = [window.interval.overlap_s(span) for span in spans]
            overlap = sum(overlaps)
            shown += len(spans)
            outside += overlaps.count(0)
            both, window_s = both + overlap, window_s + window.interval.length_s
            true_s += sum(span.length_s for span in spans)
    lengths = [window.interval.length_s for windows in corpus.windows.values() for window in windows]
    return {
        "intervals_outside_window": outside / shown,
        "mean_window_s": float(np.mean(lengths)),
        "window_iou": both / (window_s + true_s - both),
    }


def uniform_recall(corpus: Corpus) -> float:
    """Recall of steps at fixed fractions of the video, mean over tasks."""
    recalls = []
    for task in corpus.primary_tasks():
        hits = shown = 0
        for video in corpus.videos_of(task.id):
            n_segments, n_steps = corpus.n_segments(video), len(task.steps)
            for step in {part.step for part in corpus.annotations[video.key]}:
                spans = [p.interval.segments(n_segments) for p in corpus.annotations[video.key] if p.step == step]
                shown += 1
                hits += any(round((step + 0.5) * n_segments / n_steps) in span for span in spans)
        recalls.append(hits / shown)
    return float(np.mean(recalls))


def step_list_figures(corpus: Corpus) -> dict[str, float]:
    """Sizes and sharing of the step lists."""
    tasks = list(corpus.tasks.values())
    related = [task for task in tasks if not task.primary]
    places = [(task.id, step) for task in corpus.primary_tasks() for step in task.steps]
    elsewhere = [any(step in other.steps for other in tasks if other.id != task) for task, step in places]
    return {
        "components": len(vocabulary_of(tasks).names),
        "steps_a_primary_task": float(np.mean([len(task.steps) for task in corpus.primary_tasks()])),
        "steps_a_related_task": float(np.mean([len(task.steps) for task in related])) if related else 0.0,
        "primary_steps_named_elsewhere": float(np.mean(elsewhere)),
    }


def figures(corpus: Corpus) -> dict[str, float]:
    """The statistics of `RELEASE`, computed on this corpus."""
    log_seconds = np.log([corpus.n_segments(video) for video in corpus.videos])
    parts = [part for truth in corpus.annotations.values() for part in truth]
    log_durations = np.log([part.interval.length_s for part in parts])
    shown = sum(len({part.step for part in truth}) for truth in corpus.annotations.values())
    return {
        **{k: float(v or 0) for k, v in overall_statistics([task_statistics(corpus, t) for t in corpus.primary_tasks()]).items()},
        **windows_against_truth(corpus),
        "mean_log_seconds": float(log_seconds.mean()),
        "deviation_log_seconds": float(log_seconds.std()),
        "mean_log_duration": float(log_durations.mean()),
        "deviation_log_duration": float(log_durations.std()),
        "intervals_of_a_shown_step": len(parts) / shown,
        "uniform_recall": uniform_recall(corpus),
        **step_list_figures(corpus),
    }


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    by_seed = [figures(generate_without_features("paper", "default", seed)) for seed in range(arguments.seeds)]
    mean = {name: round(float(np.mean([row[name] for row in by_seed])), 4) for name in by_seed[0]}
    deviation = {name: round(float(np.std([row[name] for row in by_seed])), 4) for name in by_seed[0]}
    result = {
        "what": "synthetic corpus at the paper's shape against the release: statistics, mean and standard deviation over seeds",
        "command": f"python -m benchmarks.synthetic.release_statistics --out results/{arguments.out.name} --seeds {arguments.seeds}",
        "seeds": list(range(arguments.seeds)),
        "release": RELEASE,
        "synthetic": mean,
        "deviation_over_seeds": deviation,
        "shapes": {name: asdict(shape) for name, shape in SHAPES.items()},
        "difficulties": {name: asdict(difficulty) for name, difficulty in DIFFICULTIES.items()},
    }
    write_json(arguments.out, result)


if __name__ == "__main__":
    main()
