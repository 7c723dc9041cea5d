"""`crosstask demo`: train and compare methods on a synthetic corpus."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crosstask.cli.options import AsJson, Seed
from crosstask.cli.output import note, percent, print_json, print_table, say

if TYPE_CHECKING:
    from crosstask.experiments.demo import DemoResult
    from crosstask.records import Localization, VideoKey

ORDER = ("uniform", "task-specific", "zhukov19", "hmm", "supervised")


def demo(
    out: Annotated[Path, typer.Option("--out", help="Run folder to write.")] = Path("demo"),
    video: Annotated[bool, typer.Option("--video", help="From raw (synthetic) video files; about six minutes.")] = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Generate a synthetic corpus, train on it, and show why sharing between tasks helps; about a minute.

    Example: crosstask demo --out demo
    """
    from time import perf_counter

    if video:
        from crosstask.cli.video_demo import show_video_demo

        show_video_demo(out, seed, as_json)
        return
    from crosstask.experiments.demo import run_demo
    from crosstask.storage import nonblocking_lock

    begun = perf_counter()
    shown = run_demo(seed, note)
    note("writing the run folder and its figures")
    with nonblocking_lock(out):
        _write(out, shown, seed)
    figures = _figures(shown)
    figures["run"] = str(out)
    if as_json:
        print_json(figures)
        return
    _print(shown, figures, perf_counter() - begun)
    say("\nWhat to try next")
    example = next(iter(sorted((out / "features").glob("*.npy"))), out / "features")
    say(f"  open {out / 'report.html'}                    what was found, with timelines")
    say(f"  crosstask view {out}                          the same, to click through, edit and annotate")
    say(f'  crosstask localize {out / "model.safetensors"} {example} --steps "pour milk, stir"')
    say(f"  crosstask export {out} --format youtube       chapters and files for editors")
    say("  crosstask --help                              your own corpus: stats, validate, train, evaluate")


def _figures(shown: "DemoResult") -> dict[str, Any]:
    unseen = shown.unseen_task.id
    by_task = {name: one.evaluation.by_metric["recall"] for name, one in shown.methods.items()}
    return {
        "synthetic": True,
        "recall": {name: one.evaluation.to_json()["recall"] for name, one in shown.methods.items()},
        "gain_from_sharing": _mean(by_task["zhukov19"]) - _mean(by_task["task-specific"]),
        "unseen_task": {
            "title": shown.unseen_task.title,
            "uniform": by_task["uniform"][unseen],
            "never_trained": shown.unseen.evaluation.by_metric["recall"][unseen],
            "trained": by_task["hmm"][unseen],
        },
    }


def _mean(by_task: Any) -> float:
    return sum(by_task.values()) / len(by_task)


def _print(shown: "DemoResult", figures: dict[str, Any], seconds: float) -> None:
    recalls = figures["recall"]
    rows = []
    for task in shown.corpus.primary_tasks():
        cells = [recalls[name]["tasks"][task.id] for name in ORDER]
        rows.append([task.title, *map(percent, cells), f"{100 * (cells[2] - cells[1]):+.1f}"])
    means = [recalls[name]["mean"] for name in ORDER]
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
    from crosstask.methods.hmm import HmmScorer
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
    assert isinstance(scorer, HmmScorer)
    trained = frozenset(video.key for video in shown.split.train)
    save_model(Model(scorer, corpus.tasks, "hmm", corpus.feature_spec, trained, {}, seed), out / "model.safetensors")
    for video in tested:
        write_rows(out / "features" / f"{video.id}.npy", corpus.features.rows(video.id))
    videos = tuple(
        RunVideo(v.task, v.id, corpus.n_segments(v), None, corpus.annotations[v.key], corpus.windows[v.key]) for v in tested
    )
    run = Run(
        title="Demonstration on a synthetic corpus",
        kind="demo",
        command=f"crosstask demo --seed {seed}",
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
