"""One table of accuracy on real corpora: people, tasks and channels that were not used while the default method was developed. Writes JSON.

python -m benchmarks.real_data.accuracy DATA SPEECH --out results/accuracy.json --before before.json

SPEECH is a folder written by benchmarks.real_data.speech_corpus. `before.json` comes from the same script in a checkout of an earlier version:
`python -m benchmarks.real_data.accuracy DATA SPEECH --arms hmm --counts --out before.json`.

Groups (people, channels) and tasks are divided into two halves; settings were chosen on the development half, and this table is of the
final half. See results/protocols/accuracy.json. Windows of Breakfast and captaincook are simulated.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.scripts import arguments_of, write_result

from crosstask import open_corpus
from crosstask.evaluation.evaluate import Evaluation, evaluate_videos
from crosstask.evaluation.splits import Split, group_of
from crosstask.features.packed_corpus import with_packed_features
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.order_only import Uniform
from crosstask.methods.supervised import Supervised
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.records import Corpus, Video

METRICS = ("recall", "start_5s", "iou")
DEVELOPMENT = {"captaincook": ("P1", "P2", "P7"), "vlogs": ("C1", "C2", "C5", "C10")}  # Breakfast: every second person
GRID = [(rate, dropout) for rate in (3e-4, 1e-3, 3e-3) for dropout in (0.3, 0.7)]
EPOCHS = {"initial_epochs": 10, "epochs": 20}
DRAWS = 4000
MEMBERS = "hmm, its members"  # the mean of the five models, each decoding alone


def groups_of(corpus: Corpus, name: str, half: str) -> list[str]:
    """People or channels of a half."""
    groups = sorted({group_of(video) for video in corpus.videos})
    development = [g for g in groups if g in DEVELOPMENT[name]] if name in DEVELOPMENT else groups[::2]
    return development if half == "development" else [g for g in groups if g not in development]


def leave_groups_out(corpus: Corpus, name: str, half: str) -> Iterator[Split]:
    """Every group of the half is tested in turn; all others train."""
    for group in groups_of(corpus, name, half):
        yield Split(
            tuple(v for v in corpus.videos if group_of(v) != group), tuple(v for v in corpus.videos if group_of(v) == group)
        )


def breakfast_splits(corpus: Corpus, name: str, half: str) -> Iterator[Split]:
    """Four splits: ten people of the half are tested, 30 videos a task of all others train."""
    people = groups_of(corpus, name, half)
    rng = np.random.default_rng(1)
    for _ in range(4):
        tested = {people[i] for i in rng.permutation(len(people))[:10]}
        train: set[Video] = set()
        for task in corpus.tasks:
            others = [v for v in corpus.videos_of(task) if group_of(v) not in tested]
            train.update(others[i] for i in rng.permutation(len(others))[:30])
        yield Split(tuple(v for v in corpus.videos if v in train), tuple(v for v in corpus.videos if group_of(v) in tested))


def tasks_left_out(n_videos: int) -> Callable[[Corpus, str, str], Iterator[Split]]:
    """Three tasks of the half at a time have only `n_videos` training videos; two people of the half are tested on them in turn."""

    def splits(corpus: Corpus, name: str, half: str) -> Iterator[Split]:
        rng = np.random.default_rng(1)
        tasks = sorted(corpus.tasks)[0 if half == "development" else 1 :: 2]
        people = groups_of(corpus, name, half)
        for fold in range(3):
            left = set(tasks[fold::3])
            for person in (people[0], people[-1]):
                test = tuple(v for v in corpus.videos if v.task in left and group_of(v) == person)
                train = {v for v in corpus.videos if v.task not in left and group_of(v) != person}
                for task in sorted(left):
                    own = [v for v in corpus.videos_of(task) if group_of(v) != person]
                    train.update(own[i] for i in rng.permutation(len(own))[:n_videos])
                if test:
                    yield Split(tuple(v for v in corpus.videos if v in train), test)

    return splits


def speech_splits(corpus: Corpus, name: str, half: str) -> Iterator[Split]:
    """Four splits of the half of each task's videos: 30 train, the others are tested."""
    for seed in range(4):
        rng, train, test = np.random.default_rng(200 + seed), set(), []
        for task in corpus.tasks:
            videos = corpus.videos_of(task)
            videos = videos[: len(videos) // 2] if half == "development" else videos[len(videos) // 2 :]
            order = rng.permutation(len(videos))
            train.update(videos[i] for i in order[:30])
            test += [videos[i] for i in sorted(order[30:])]
        yield Split(tuple(v for v in corpus.videos if v in train), tuple(test))


CELLS = {  # name -> corpus, splits, with windows in training
    "Breakfast, windows": ("breakfast", breakfast_splits, True),
    "Breakfast, order alone": ("breakfast", breakfast_splits, False),
    "captaincook, windows": ("captaincook", leave_groups_out, True),
    "captaincook, order alone": ("captaincook", leave_groups_out, False),
    "captaincook, never trained, windows": ("captaincook", tasks_left_out(0), True),
    "captaincook, never trained, order alone": ("captaincook", tasks_left_out(0), False),
    "captaincook, three videos, windows": ("captaincook", tasks_left_out(3), True),
    "captaincook, three videos, order alone": ("captaincook", tasks_left_out(3), False),
    "speech as features, windows": ("speech", speech_splits, True),
    "vlogs, windows": ("vlogs", leave_groups_out, True),
}


def arms_of(chosen: dict[str, tuple[float, float]]) -> dict[str, Callable[[], object]]:
    """Name -> method, with the settings that were chosen on the development half."""
    return {
        "uniform": Uniform,
        "zhukov19": lambda: Zhukov19(settings=settings_of(*chosen["zhukov19"])),
        "supervised": lambda: Supervised(settings=settings_of(*chosen["supervised"])),
        "hmm": HiddenMarkovModel,
        "hmm, all labels": HiddenMarkovModel,
    }


def settings_of(rate: float, dropout: float) -> AlternationSettings:
    """Settings of the component model."""
    return AlternationSettings(learning_rate=rate, dropout=dropout, **EPOCHS)


def training_corpus(corpus: Corpus, split: Split, windows: bool, arm: str) -> Corpus:
    """The training part of a corpus as an arm sees it."""
    train = corpus.only_tasks({v.task for v in split.train}).only(split.train)
    if arm == "hmm, all labels":
        from crosstask.records import labels_from_annotation

        labels = {
            v.key: labels_from_annotation(train.annotations[v.key], len(train.task_of(v).steps))
            for v in train.videos
            if v.key in train.annotations
        }
        return replace(train, labels=labels)
    return train if windows else train.without_windows()


def one_arm(
    corpus: Corpus, name: str, cell: str, arm: str, make: Callable[[], object], half: str
) -> dict[str, dict[str, dict[str, float]]]:
    """Arm -> metric -> task -> mean over the splits in which the task is tested; beside `hmm` its members, each decoding alone."""
    _, splits, windows = CELLS[cell]
    evaluations: dict[str, list[Evaluation]] = {}
    for split in splits(corpus, name, half):
        method = make()
        scorer = method.fit(training_corpus(corpus, split, windows, arm), np.random.default_rng(0))  # type: ignore[attr-defined]
        evaluations.setdefault(arm, []).append(evaluate_videos(corpus, scorer, split.test))
        if arm == "hmm":
            alone = (replace(scorer, members=(member,)) for member in getattr(scorer, "members", ()))
            evaluations.setdefault(MEMBERS, []).extend(evaluate_videos(corpus, one, split.test) for one in alone)
    return {of: mean_by_task(found) for of, found in evaluations.items() if found}


def mean_by_task(evaluations: Sequence[Evaluation]) -> dict[str, dict[str, float]]:
    """Metric -> task -> mean over the evaluations in which the task was tested."""
    found: dict[str, dict[str, list[float]]] = {metric: {} for metric in METRICS}
    for evaluation in evaluations:
        for metric in METRICS:
            for task, value in evaluation.by_metric[metric].items():
                found[metric].setdefault(task, []).append(value)
    return {metric: {task: float(np.mean(values)) for task, values in of.items()} for metric, of in found.items()}


def tuned(corpora: dict[str, Corpus]) -> dict[str, dict[str, tuple[float, float]]]:
    """Corpus -> arm -> rate and dropout with the best recall on the first split of the development half."""
    chosen: dict[str, dict[str, tuple[float, float]]] = {}
    for cell in ("Breakfast, windows", "captaincook, windows", "speech as features, windows", "vlogs, windows"):
        name, splits, windows = CELLS[cell]
        corpus = corpora[name]
        split = next(iter(splits(corpus, name, "development")))
        for arm, kind in (("zhukov19", Zhukov19), ("supervised", Supervised)):
            recalls = {}
            for setting in GRID:
                train = training_corpus(corpus, split, windows, arm)
                scorer = kind(settings=settings_of(*setting)).fit(train, np.random.default_rng(0))
                recalls[setting] = evaluate_videos(corpus, scorer, split.test).recall
            chosen.setdefault(name, {})[arm] = max(recalls, key=lambda setting: recalls[setting])
        print(name, chosen[name], flush=True)
    return chosen


def difference(first: dict[str, dict[str, dict]], second: dict[str, dict[str, dict]], cells: list[str]) -> dict[str, float]:
    """Mean over cells of the mean over tasks of first - second in recall points; tasks are drawn with replacement within each cell."""
    rng = np.random.default_rng(0)
    drawn, means = np.zeros(DRAWS), []
    for cell in cells:
        a, b = first[cell]["recall"], second[cell]["recall"]
        points = 100 * np.array([a[task] - b[task] for task in sorted(a)])
        means.append(points.mean())
        drawn += points[rng.integers(len(points), size=(DRAWS, len(points)))].mean(axis=1) / len(cells)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return {"mean": float(np.mean(means)), "low": float(low), "high": float(high)}


def summary(by_arm: dict[str, dict[str, dict]]) -> dict[str, dict[str, dict[str, float]]]:
    """Cell -> arm -> metric in percent, mean over tasks."""
    return {
        cell: {
            arm: {metric: 100 * float(np.mean(list(of[cell][metric].values()))) for metric in METRICS}
            for arm, of in by_arm.items()
            if cell in of
        }
        for cell in CELLS
    }


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("speech", type=Path)
    parser.add_argument("--arms", nargs="+", help="only these arms")
    parser.add_argument("--others", type=Path, help="an earlier result from which the arms that are not run are taken")
    parser.add_argument("--before", type=Path, help="counts of an earlier version, written with --counts")
    parser.add_argument("--counts", action="store_true", help="write recall by task of each arm only")
    arguments = parser.parse_args()
    folders = {name: arguments.data / name for name in ("breakfast", "captaincook", "vlogs")} | {"speech": arguments.speech}
    corpora = {name: with_packed_features(open_corpus(folder)) for name, folder in folders.items()}
    wanted = arguments.arms or ["uniform", "zhukov19", "supervised", "hmm", "hmm, all labels"]
    chosen = tuned(corpora) if {"zhukov19", "supervised"} & set(wanted) else {}
    by_arm: dict[str, dict[str, dict]] = {}
    for arm in wanted:
        for cell, (name, _, windows) in CELLS.items():
            if arm == "hmm, all labels" and not windows:
                continue  # labels replace windows
            make = arms_of(chosen.get(name, {}))[arm]
            for of, found in one_arm(corpora[name], name, cell, arm, make, "final").items():
                by_arm.setdefault(of, {})[cell] = found
            print(arm, cell, round(100 * float(np.mean(list(by_arm[arm][cell]["recall"].values()))), 1), flush=True)
    if arguments.counts:
        write_result(arguments.out, by_arm)
        return
    if arguments.others is not None:
        earlier = json.loads(arguments.others.read_text())
        by_arm = {**earlier["by_task"], **by_arm}
        chosen = chosen or earlier["settings"]
    result = {
        "what": "recall, starts within 5 s, IoU in %, mean over tasks, held-out people, tasks, channels; windows of Breakfast and captaincook simulated",
        "command": "python -m benchmarks.real_data.accuracy DATA SPEECH --out results/accuracy.json --before before.json",
        "seeds": [0],
        "settings": {name: {arm: list(setting) for arm, setting in of.items()} for name, of in chosen.items()},
    }
    if arguments.before is not None:
        by_arm["hmm before"] = json.loads(arguments.before.read_text())["hmm"]
        pairs = {cell: difference(by_arm["hmm"], by_arm["hmm before"], [cell]) for cell in CELLS}
        result["hmm - hmm before, points"] = {
            "mean over cells": difference(by_arm["hmm"], by_arm["hmm before"], list(CELLS)),
            **pairs,
        }
    of_one = {cell: difference(by_arm["hmm"], by_arm[MEMBERS], [cell]) for cell in CELLS}
    averaging = {"mean over cells": difference(by_arm["hmm"], by_arm[MEMBERS], list(CELLS)), **of_one}
    result["hmm - its members, points"] = averaging
    result["hmm - zhukov19, points"] = {cell: difference(by_arm["hmm"], by_arm["zhukov19"], [cell]) for cell in CELLS}
    write_result(arguments.out, {**result, "table": summary(by_arm), "by_task": by_arm})


if __name__ == "__main__":
    main()
