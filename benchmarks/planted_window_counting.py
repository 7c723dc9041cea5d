"""Steps outside their windows, counted per shown step and per showing, on real transcripts and on the measured planted world. Writes JSON.

CROSSTASK_DATA=DATA python benchmarks/planted_window_counting.py --out results/planted-window-counting.json

The paper prints that 61 % of ground truth steps lie entirely outside, with an IoU of 7.9 %, and does not say which it counts.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from planted_window_measures import Windows, real_windows

from crosstask.datasets import open_corpus
from crosstask.records import Corpus
from crosstask.storage import write_json
from crosstask.synthetic import generate_without_features


def counted(corpus: Corpus, windows: Windows) -> dict[str, float]:
    """Share of shown steps outside, share of showings outside, IoU: pooled within a task, mean over tasks."""
    tasks = sorted({key.task for key in windows if key in corpus.annotations})
    means = np.mean([_of_task(corpus, windows, task) for task in tasks], axis=0)
    return {name: round(float(v), 4) for name, v in zip(("steps_outside", "showings_outside", "iou"), means, strict=True)}


def _of_task(corpus: Corpus, windows: Windows, task: str) -> tuple[float, float, float]:
    steps, showings = [], []
    both = either = 0.0
    for key in (key for key in windows if key.task == task and key in corpus.annotations):
        for window in windows[key]:
            spans = [part.interval for part in corpus.annotations[key] if part.step == window.step]
            overlaps = [window.interval.overlap_s(span) for span in spans]
            steps += [sum(overlaps) == 0] if spans else []
            showings += [overlap == 0 for overlap in overlaps]
            both += sum(overlaps)
            either += window.interval.length_s + sum(span.length_s for span in spans) - sum(overlaps)
    return float(np.mean(steps)), float(np.mean(showings)), both / either


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    real = open_corpus(Path(os.environ["CROSSTASK_DATA"]) / "crosstask")
    planted = generate_without_features("paper", "measured-default", 0)
    write_json(
        arguments.out,
        {
            "what": "steps and showings entirely outside their window, and IoU; real: two tasks with transcripts; planted: synthetic",
            "command": f"CROSSTASK_DATA=DATA python benchmarks/planted_window_counting.py --out results/{arguments.out.name}",
            "seed": 0,
            "paper": {"outside": 0.61, "iou": 0.079},
            **{name: counted(real, windows) for name, windows in real_windows(real).items()},
            "planted, measured world": counted(planted, planted.windows),
        },
    )


if __name__ == "__main__":
    main()
