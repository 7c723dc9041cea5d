"""How often the interval of a review, estimated from the fifth that is drawn at random, covers the true accuracy of the run. Writes JSON.

python -m benchmarks.synthetic.review --out results/review-coverage.json

Runs are generated: steps with a confidence, right with that probability, or independently of it, or at a rate that differs by task. A person
checks the first items of the real queue and is always right. The share of right answers among the items that the queue chose by gain is reported
beside it: it is biased.
"""

from typing import Any

import numpy as np
from benchmarks.scripts import arguments_of, write_result

from crosstask.correction.accuracy import Accuracy
from crosstask.correction.queue import Place, next_items
from crosstask.records import FoundStep, VideoKey

COMMAND = "python -m benchmarks.synthetic.review --out results/review-coverage.json"
N_TASKS, N_STEPS = 6, 7  # steps a task


def generated(
    rng: np.random.Generator, kind: str, n_videos: int, mean: float
) -> tuple[dict[Place, FoundStep], dict[Place, bool]]:
    """Found steps with their confidence, and whether they are right."""
    found, right = {}, {}
    of_task = np.clip(rng.normal(mean, 0.2, N_TASKS), 0.02, 0.98)
    for task in range(N_TASKS):
        for video in range(n_videos):
            for step in range(N_STEPS):
                place = (VideoKey(str(task), f"v{video}"), step)
                confidence = float(rng.beta(4 * mean, 4 * (1 - mean)))
                probability = {"calibrated": confidence, "unrelated": mean, "by task": of_task[task]}[kind]
                found[place] = FoundStep(str(step), 1.0, 0.0, 0.0, 2.0, confidence=confidence)
                right[place] = bool(rng.random() < probability)
    return found, right


def one_review(seed: int, kind: str, n_videos: int, mean: float, n_answers: int) -> tuple[bool, float, float]:
    """Whether the interval covers the truth, its width, and the bias of the items chosen by gain."""
    found, right = generated(np.random.default_rng(seed), kind, n_videos, mean)
    items = next_items(found, set(), 0, seed, n_answers)
    drawn = {kind: [right[item.key, item.step] for item in items if item.drawn == kind] for kind in ("random", "gain")}
    truth = float(np.mean(list(right.values())))
    low, high = Accuracy(sum(drawn["random"]), len(drawn["random"])).interval
    return low <= truth <= high, high - low, float(np.mean(drawn["gain"])) - truth


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("--reviews", type=int, default=400)
    arguments = parser.parse_args()
    settings: list[dict[str, Any]] = []
    for kind in ("calibrated", "unrelated", "by task"):
        for mean in (0.3, 0.7, 0.95):
            for n_answers in (25, 100):
                reviews = [one_review(seed, kind, 10, mean, n_answers) for seed in range(arguments.reviews)]
                covered, width, bias = (float(np.mean(values)) for values in zip(*reviews, strict=True))
                settings.append(
                    {
                        "confidence": kind,
                        "accuracy": mean,
                        "answers": n_answers,
                        "covered": covered,
                        "width": width,
                        "bias of the gain items": bias,
                    }
                )
    result = {
        "what": "share of simulated reviews whose 95 % interval, from the random fifth alone, covers the true accuracy of the run",
        "command": COMMAND,
        "seeds": [0, arguments.reviews - 1],
        "lowest coverage": min(one["covered"] for one in settings),
        "settings": settings,
    }
    write_result(arguments.out, result)


if __name__ == "__main__":
    main()
