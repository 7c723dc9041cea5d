"""`crosstask demo --numbers`: methods compared on a synthetic corpus of numbers, without films."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosstask.cli.output import command, note, percent, print_json, print_table, say

if TYPE_CHECKING:
    from crosstask.experiments.demo import DemoResult
    from crosstask.records import Localization, VideoKey

KIND = "demo"  # of the run folder, as of the demonstration on films
ORDER = ("uniform", "task-specific", "zhukov19", "hmm", "supervised")


def show_numbers_demo(out: Path, seed: int, as_json: bool) -> None:
    """Generate a synthetic corpus, train the methods on it, write the run folder, and print the comparison."""
    from time import perf_counter

    from crosstask.experiments.demo import run_demo
    from crosstask.runs import claim_run_folder
    from crosstask.storage import nonblocking_lock

    claim_run_folder(out, KIND)
    begun = perf_counter()
    shown = run_demo(seed, note)
    note("writing the run folder and its figures")
    with nonblocking_lock(out):
        _write(out, shown, seed)
    figures = _figures(shown) | {"run": str(out)}
    if as_json:
        print_json(figures)
        return
    _print(shown, figures, perf_counter() - begun)
    example = next(iter(sorted((out / "features").glob("*.npy"))), out / "features")
    say("\nWhat to try next")
    say(f"  {command('view', out)}\n      look at each video, edit and annotate")
    say(f"  {command('localize', out / 'model.safetensors', example, '--steps', 'pour milk, stir')}\n      steps of your own")
    say(f"  {command('export', out, '--format', 'csv')}\n      the steps found, as a table")
    say(f"  Open {out / 'report.html'} in a browser: what was found, with timelines.")


def _figures(shown: "DemoResult") -> dict[str, Any]:
    unseen = shown.unseen_task.id
    by_task = {name: dict(one.evaluation.by_metric["recall"]) for name, one in shown.methods.items()}
    means = {name: sum(recalls.values()) / len(recalls) for name, recalls in by_task.items()}
    return {
        "synthetic": True,
        "recall": means,
        "tasks": by_task,
        "gain_from_sharing": means["zhukov19"] - means["task-specific"],
        "unseen_task": {
            "title": shown.unseen_task.title,
            "uniform": by_task["uniform"][unseen],
            "never_trained": shown.unseen.evaluation.by_metric["recall"][unseen],
            "trained": by_task["hmm"][unseen],
        },
    }


def _print(shown: "DemoResult", figures: dict[str, Any], seconds: float) -> None:
    rows = []
    for task in shown.corpus.primary_tasks():
        cells = [figures["tasks"][name][task.id] for name in ORDER]
        rows.append([task.title, *map(percent, cells), f"{100 * (cells[2] - cells[1]):+.1f}"])
    means = [figures["recall"][name] for name in ORDER]
    rows.append(["mean over tasks", *map(percent, means), f"{100 * (means[2] - means[1]):+.1f}"])
    header = [
        "step recall, % (synthetic corpus)",
        "uniform",
        "task-specific",
        "zhukov19",
        "hmm",
        "supervised",
        "gain from sharing",
    ]
    print_table(f"{len(shown.split.test)} test videos of {shown.corpus.name}", header, rows)
    unseen = figures["unseen_task"]
    say(f"\nA task never trained on: '{unseen['title']}', parsed from its step list alone")
    say(
        f"  uniform {percent(unseen['uniform'])}   never trained on {percent(unseen['never_trained'])}   "
        f"trained on {percent(unseen['trained'])}"
    )
    say(f"\nWhere the time went ({seconds:.0f} s in all; the first run also compiles the kernels, once)")
    for what, spent in shown.seconds.items():
        say(f"  {spent:6.1f} s  {what}")


def _write(out: Path, shown: "DemoResult", seed: int) -> None:
    """The run folder: model, parses, scores, figures."""
    from crosstask import __version__
    from crosstask.corpus_building.task_map import draw_task_map
    from crosstask.experiments.demo import DIFFICULTY
    from crosstask.features import write_rows
    from crosstask.methods.hmm_ensemble import HmmEnsemble
    from crosstask.model.file import save_model
    from crosstask.model.localization import localization_of
    from crosstask.model.model import Model
    from crosstask.report.page import write_report
    from crosstask.report.timeline import draw_timeline
    from crosstask.runs import Run, RunVideo, write_run

    corpus, tested = shown.corpus, shown.split.test
    names = ("hmm", "zhukov19", "task-specific", "supervised", "uniform")
    scores = {
        name: {
            video.key: shown.methods[name].scorer.score(corpus.task_of(video), corpus.features.rows(video.id)) for video in tested
        }
        for name in names
    }
    parses = {name: {v.key: localization_of(corpus.task_of(v), scores[name][v.key], v.id) for v in tested} for name in names}
    scorer = shown.methods["hmm"].scorer
    assert isinstance(scorer, HmmEnsemble)
    trained = frozenset(video.key for video in shown.split.train)
    save_model(Model(scorer, corpus.tasks, "hmm", corpus.feature_spec, trained, {}, seed), out / "model.safetensors")
    for video in tested:
        write_rows(out / "features" / f"{video.id}.npy", corpus.features.rows(video.id))
    videos = tuple(
        RunVideo(v.task, v.id, corpus.n_segments(v), None, corpus.annotations[v.key], corpus.windows[v.key]) for v in tested
    )
    run = Run(
        title="Demonstration on a synthetic corpus",
        kind=KIND,
        command=f"crosstask demo --numbers --seed {seed}",
        seed=seed,
        synthetic=True,
        tasks=corpus.tasks,
        videos=videos,
        methods=names,
        results={name: shown.methods[name].evaluation.to_json() for name in names},
        losses={name: shown.methods[name].losses for name in names if shown.methods[name].losses},
        settings={"tasks": len(corpus.tasks), "difficulty": DIFFICULTY, "dimensions": 128},
        notes=(f"'{shown.unseen_task.title}' was also parsed by a model that never saw it.",),
        version=__version__,
    )
    kept = ((name, key, values) for name in names for key, values in scores[name].items())
    write_run(out, run, {name: list(found.values()) for name, found in parses.items()}, kept)
    for task in corpus.primary_tasks():
        key = _instructive(parses["hmm"], corpus.annotations, task.id)
        title = f"{task.title}: {key.video} (synthetic)"
        draw_timeline(
            out / "figures" / f"{key}.png",
            title,
            task,
            scores["hmm"][key],
            parses["hmm"][key],
            corpus.annotations[key],
            corpus.windows[key],
        )
    key = next(v.key for v in tested if v.task == shown.unseen_task.id)
    features = corpus.features.rows(key.video)
    values = shown.unseen.scorer.score(shown.unseen_task, features)
    found = localization_of(shown.unseen_task, values, key.video)
    title = f"{shown.unseen_task.title}, never trained on: {key.video} (synthetic)"
    draw_timeline(out / "figures" / f"unseen-{key}.png", title, shown.unseen_task, values, found, corpus.annotations[key], None)
    draw_task_map(out, corpus.tasks, seed)
    write_report(out)


def _instructive(parses: "dict[VideoKey, Localization]", annotations: Any, task: str) -> "VideoKey":
    """The video of a task whose recall is the median: neither the best nor the worst."""

    def share(key: "VideoKey") -> float:
        truth = annotations[key]
        shown = {a.step for a in truth}
        right = sum(
            any(a.step == k and s.segment in a.interval.segments(10**6) for a in truth) for k, s in enumerate(parses[key].steps)
        )
        return right / max(1, len(shown))

    keys = sorted((key for key in parses if key.task == task), key=lambda key: (share(key), key))
    return keys[len(keys) // 2]
