"""Learning from corrections on real data: recall of unseen people against corrected videos, and the review queue against random choice. Writes JSON.

CROSSTASK_DATA=DATA python -m benchmarks.real_data.corrections --out results/corrections.json

Breakfast and captaincook without narration windows (nobody speaks in them), split by person. Corrections are taken from the annotation:
a moment is the middle second of the longest true interval. Protocol: results/protocols/corrections.json.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.real_data.breakfast_zhukov19 import SETTINGS
from benchmarks.scripts import arguments_of, data_folder, write_result

from crosstask import open_corpus
from crosstask.correction.queue import Place, next_items
from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.evaluation.paired import mean_interval
from crosstask.evaluation.splits import Split, group_split
from crosstask.evaluation.task_intervals import sign_flip_p
from crosstask.features.packed_corpus import with_packed_features
from crosstask.inference import decoder_of
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.protocols import Scorer
from crosstask.methods.supervised import Supervised
from crosstask.model.localization import localization_of, video_scores
from crosstask.records import Corpus, FoundStep, StepLabel, Video, VideoKey, labels_from_annotation
from crosstask.runs import answer_is_right

COMMAND = "CROSSTASK_DATA=DATA python -m benchmarks.real_data.corrections --out results/corrections.json"
VIDEOS = (1, 2, 3, 5, 10)  # corrected videos a task
# Seeds of splits on which one corrected video is compared with none again.
REPEATED = {"one corrected video, seeds 10 to 21": range(10, 22), "one corrected video, seeds 22 to 33": range(22, 34)}
QUEUE_ROUNDS, QUEUE_SHARE = 3, 0.04  # in each round this share of the steps of the pool is corrected, then the model learns again

Labels = Mapping[VideoKey, tuple[StepLabel, ...]]
Recalls = Mapping[str, float]  # by task


def as_moment(label: StepLabel) -> StepLabel:
    """The label with a moment in place of its intervals."""
    if not label.intervals:
        return label
    longest = max(label.intervals, key=lambda interval: interval.length_s)
    return StepLabel(label.step, moment_s=(longest.start_s + longest.end_s) / 2)


def true_labels(corpus: Corpus, video: Video) -> tuple[StepLabel, ...]:
    """Every step of a video as an attentive person labels it with intervals."""
    return labels_from_annotation(corpus.annotations[video.key], len(corpus.task_of(video).steps))


def learnt(train: Corpus, labels: Labels, seed: int, start: Scorer | None = None) -> Scorer:
    """The default method on weak videos with some labels."""
    method = HiddenMarkovModel() if start is None else replace(HiddenMarkovModel(), start=start)
    return method.fit(replace(train, labels=dict(labels)), np.random.default_rng(seed))


def drawn_videos(train: Corpus, n: int | None, seed: int, tasks: Iterable[str]) -> list[Video]:
    """So many videos of each task (None: all) in a random order that does not depend on the number."""
    chosen: list[Video] = []
    for task in tasks:
        videos = train.videos_of(task)
        order = np.random.default_rng([seed, sum(map(ord, task))]).permutation(len(videos))
        chosen += [videos[i] for i in order[:n]]
    return chosen


def curves(corpus: Corpus, split: Split, seed: int) -> tuple[dict[str, Recalls], dict[str, int], Scorer]:
    """Recall of unseen people by task for every number of corrected videos, corrected steps by name, and the model without corrections."""
    train = corpus.only(split.train)
    weak = learnt(train, {}, seed)

    def recall(scorer: Scorer) -> Recalls:
        return evaluate_videos(corpus, scorer, split.test).by_metric["recall"]

    found, steps = {"0": recall(weak)}, {"0": 0}
    for n in (*VIDEOS, None):
        labels = {v.key: true_labels(corpus, v) for v in drawn_videos(train, n, seed, corpus.tasks)}
        for kind in ("intervals", "moments"):
            of_kind = labels if kind == "intervals" else {key: tuple(map(as_moment, of)) for key, of in labels.items()}
            name = f"{'all' if n is None else n} {kind}"
            found[name], steps[name] = recall(learnt(train, of_kind, seed)), sum(map(len, labels.values()))
    found["supervised"] = recall(Supervised(settings=SETTINGS).fit(train, np.random.default_rng(seed)))
    half = sorted(corpus.tasks)[::2]
    some = {v.key: true_labels(corpus, v) for v in drawn_videos(train, None, seed, half)}
    elsewhere = recall(learnt(train, some, seed))
    found["other tasks corrected"] = {task: value for task, value in elsewhere.items() if task not in half}
    return found, steps, weak


def one_video_again(name: str, seeds: Iterable[int]) -> dict[str, Any]:
    """One corrected video a task against none on splits that nothing was chosen on."""
    corpus = with_packed_features(open_corpus(data_folder() / name)).without_windows()
    runs = []
    for seed in seeds:
        split = group_split(corpus, np.random.default_rng(seed))
        train = corpus.only(split.train)
        labels = {v.key: true_labels(corpus, v) for v in drawn_videos(train, 1, seed, corpus.tasks)}
        moments = {key: tuple(map(as_moment, of)) for key, of in labels.items()}
        scorers = {name: learnt(train, of, seed) for name, of in (("0", {}), ("1 intervals", labels), ("1 moments", moments))}
        runs.append({arm: evaluate_videos(corpus, of, split.test).by_metric["recall"] for arm, of in scorers.items()})
        print(name, seed, {k: round(float(np.mean(list(v.values()))), 3) for k, v in runs[-1].items()}, flush=True)
    return {f"{arm} - 0": over_tasks(runs, arm, "0") | without_normality(runs, arm, "0") for arm in ("1 intervals", "1 moments")}


def without_normality(runs: list[dict[str, Recalls]], first: str, second: str) -> dict[str, Any]:
    """The gain of each task in points, a bootstrap interval over tasks, and the p-value of the sign-flip test."""
    gains, rng = gains_by_task(runs, first, second), np.random.default_rng(0)
    values = np.array(list(gains.values()))
    means = values[rng.integers(len(values), size=(4000, len(values)))].mean(axis=1)
    return {
        "by task": gains,
        "bootstrap": np.quantile(means, [0.025, 0.975]).tolist(),
        "p of the sign-flip test": sign_flip_p(values, rng),
    }


def found_in(corpus: Corpus, scorer: Scorer, videos: Iterable[Video], labels: Labels) -> dict[Place, FoundStep]:
    """Every step of some videos as it is found given the labels."""
    found = {}
    for video in videos:
        task, rows = corpus.task_of(video), np.asarray(corpus.features.rows(video.id))
        scored = video_scores(scorer, task, rows, labels.get(video.key, ()))
        localization = localization_of(task, scored, video.id, decoder_of(scorer))
        found |= {(video.key, k): step for k, step in enumerate(localization.steps)}
    return found


def review_rounds(corpus: Corpus, split: Split, weak: Scorer, seed: int, by_queue: bool) -> list[dict[str, float]]:
    """After each round: corrected steps, share of the steps of the pool that are right (corrected ones are), recall of unseen people."""
    train, scorer = corpus.only(split.train), weak
    truth = {(v.key, label.step): label for v in split.train for label in true_labels(corpus, v)}
    labels: dict[VideoKey, tuple[StepLabel, ...]] = {}
    labelled: set[Place] = set()
    rng, rounds = np.random.default_rng([seed, 7]), []
    for turn in range(QUEUE_ROUNDS + 1):
        found = found_in(corpus, scorer, split.train, labels)
        right = [p in labelled or answer_is_right(found[p], t) for p, t in truth.items()]
        unseen = evaluate_videos(corpus, scorer, split.test).recall
        rounds.append({"corrected": len(labelled), "pool": float(np.mean(right)), "unseen": unseen})
        n = round(QUEUE_SHARE * len(truth))
        rest = [place for place in truth if place not in labelled]
        drawn = [rest[i] for i in rng.permutation(len(rest))[:n]]
        asked = [(i.key, i.step) for i in next_items(found, labelled, len(labelled), seed, n)] if by_queue else drawn
        labelled |= set(asked)
        for key, step in asked:
            answer = _answer(found[key, step], truth[key, step])
            labels[key] = tuple(sorted((*labels.get(key, ()), answer), key=lambda label: label.step))
        if turn < QUEUE_ROUNDS:
            scorer = learnt(train, labels, seed, weak)
    return rounds


def _answer(found: FoundStep, truth: StepLabel) -> StepLabel:
    """What a person says in a review: the moment that was found if it is right, otherwise the true one."""
    right = truth.shown and found.shown and answer_is_right(found, truth)
    return StepLabel(truth.step, moment_s=found.moment_s) if right else as_moment(truth)


def gains_by_task(runs: list[dict[str, Recalls]], first: str, second: str) -> dict[str, float]:
    """Task -> difference of two recalls in points, mean over the splits in which both have it."""
    tasks = sorted({task for run in runs for task in run[first] if task in run[second]})
    return {
        t: 100 * float(np.mean([run[first][t] - run[second][t] for run in runs if t in run[first] and t in run[second]]))
        for t in tasks
    }


def over_tasks(runs: list[dict[str, Recalls]], first: str, second: str) -> dict[str, Any]:
    """Mean over tasks of the difference of two recalls in points, each task the mean over splits, with its 95 % interval over tasks."""
    gains = np.array(list(gains_by_task(runs, first, second).values()))
    return mean_interval(gains) | {"tasks": len(gains), "tasks_above": int(np.sum(gains > 0))}


def measured(name: str, splits: int) -> dict[str, Any]:
    """All figures of one corpus."""
    corpus = with_packed_features(open_corpus(data_folder() / name)).without_windows()
    runs, steps, queue, random = [], {}, [], []
    for seed in range(splits):
        split = group_split(corpus, np.random.default_rng(seed))
        found, steps, weak = curves(corpus, split, seed)
        runs.append(found)
        queue.append(review_rounds(corpus, split, weak, seed, by_queue=True))
        random.append(review_rounds(corpus, split, weak, seed, by_queue=False))
        print(name, seed, {k: round(float(np.mean(list(v.values()))), 3) for k, v in found.items()}, flush=True)
        print(name, seed, "queue", queue[-1], "random", random[-1], flush=True)
    arms = [arm for arm in runs[0] if arm != "other tasks corrected"]
    return {
        "recall": {arm: float(np.mean([np.mean(list(run[arm].values())) for run in runs])) for arm in arms},
        "corrected_steps": steps,
        "points over tasks": {
            **{f"{arm} - 0": over_tasks(runs, arm, "0") for arm in arms if arm != "0"},
            "all intervals - supervised": over_tasks(runs, "all intervals", "supervised"),
            "other tasks corrected - 0": over_tasks(runs, "other tasks corrected", "0"),
        },
        "queue": _mean_rounds(queue),
        "random": _mean_rounds(random),
        "queue - random, points over splits": [
            {
                what: mean_interval([100 * (q[i][what] - r[i][what]) for q, r in zip(queue, random, strict=True)])
                for what in ("pool", "unseen")
            }
            for i in range(QUEUE_ROUNDS + 1)
        ],
    }


def _mean_rounds(of_splits: list[list[dict[str, float]]]) -> list[dict[str, float]]:
    return [
        {what: float(np.mean([rounds[i][what] for rounds in of_splits])) for what in of_splits[0][0]}
        for i in range(QUEUE_ROUNDS + 1)
    ]


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--corpora", nargs="+", default=["breakfast", "captaincook"])
    arguments = parser.parse_args()
    result = {
        "what": "step recall of unseen people against corrected videos a task; the review queue against random choice; no windows",
        "command": COMMAND,
        "seeds": list(range(arguments.splits)),
        **{name: measured(name, arguments.splits) for name in arguments.corpora},
        **{what: {name: one_video_again(name, seeds) for name in arguments.corpora} for what, seeds in REPEATED.items()},
    }
    write_result(arguments.out, result)


if __name__ == "__main__":
    main()
