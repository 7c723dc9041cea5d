"""What the benchmark scripts have in common: arguments, data folder, the command they record, and small statistics."""

import argparse
import json
import logging
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.evaluation.paired import paired_difference
from crosstask.methods.protocols import Method
from crosstask.records import Corpus, Video
from crosstask.storage import write_json


def arguments_of(doc: str | None) -> argparse.ArgumentParser:
    """A parser with the script's docstring as help and the required option --out; warnings of the library are silenced."""
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    return parser


def data_folder() -> Path:
    """The folder with the real datasets: $CROSSTASK_DATA."""
    if "CROSSTASK_DATA" not in os.environ:
        raise SystemExit("set CROSSTASK_DATA to the folder that holds the real datasets (crosstask/, breakfast/, wikihow/, ...)")
    return Path(os.environ["CROSSTASK_DATA"])


def write_result(out: Path, result: dict) -> None:
    """Write a result to `out`, and print it."""
    write_json(out, result)
    print(json.dumps(result, indent=1))


def paired_points(first: Sequence[float], second: Sequence[float]) -> dict[str, float]:
    """Mean of first - second in points, with its 95 % interval over splits."""
    points = 100 * (np.array(first) - np.array(second))
    return paired_difference(points, np.zeros_like(points))


def rounded_interval(differences: np.ndarray) -> dict[str, float]:
    """Mean of paired differences and its 95 % interval, rounded to four digits."""
    return {name: round(value, 4) for name, value in paired_difference(differences, np.zeros_like(differences)).items()}


def recall_of(corpus: Corpus, method: Method, train: Iterable[Video], test: Iterable[Video], seed: int) -> dict[str, float]:
    """Recall by task of a method trained on some videos; it does not see tasks without training videos."""
    videos = tuple(train)
    seen = corpus.only_tasks({video.task for video in videos}).only(videos)
    scorer = method.fit(seen, np.random.default_rng([seed, 1]))
    return evaluate_videos(corpus, scorer, test).by_metric["recall"]
