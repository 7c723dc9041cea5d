"""Table 2: step recall of every method per task, the gain from sharing across tasks, and the number of tasks won."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from crosstask import __version__
from crosstask.experiments.arms import Arm, arm_of_method
from crosstask.experiments.figures import draw_task_bars
from crosstask.experiments.runner import RUN_KIND, ExperimentConfig, Results
from crosstask.experiments.tables import ExperimentResult, result_table, run_and_summarise, write_result
from crosstask.records import Corpus, InputError, StepInterval, VideoKey, localization_from_json
from crosstask.runs import Run, RunVideo, write_run

PAPER = {  # Table 2, average over the 18 tasks
    "supervised": 0.316,
    "uniform": 0.097,
    "alayrac16": 0.133,
    "richard18": 0.067,
    "task-specific": 0.186,
    "zhukov19": 0.224,
}
PAIRS = (
    ("zhukov19", "task-specific"),
    ("task-specific", "alayrac16"),
    ("alayrac16", "uniform"),
    ("task-specific", "richard18"),
    ("supervised", "zhukov19"),
    ("zhukov19", "uniform"),
    ("hmm", "zhukov19"),
    ("hmm, all labels", "supervised"),
)


def arms(config: ExperimentConfig) -> list[Arm]:
    """The rows of the table: those the user names, or the paper's. Methods that share train on all tasks, the others on primary ones."""
    if config.methods:
        return [arm_of_method(method, config.sharing) for method in config.methods]
    names = ["supervised", "uniform", "random", "alayrac16", "richard18", "task-specific", "zhukov19"]
    rows = [arm_of_method(name, config.sharing) for name in names]
    if config.with_hmm:
        hmm = arm_of_method("hmm", config.sharing)
        rows += [hmm, replace(hmm, name="hmm, all labels", labels=True)]  # the second ceiling beside supervised
    return rows


def cross_task(config: ExperimentConfig) -> ExperimentResult:
    """`experiment cross-task`: Table 2 on this corpus, and a run folder with localizations of the first run."""
    rows = arms(config)
    names = [arm.name for arm in rows]
    if len(set(names)) < len(names):
        raise InputError(f"--methods {','.join(config.methods)}: two methods of one name; give each class its own name")
    pairs = list(combinations(names, 2)) if config.methods else PAIRS
    shown = [name for name in names if config.methods or name not in ("random", "alayrac16", "richard18")]
    summary, results = run_and_summarise(config, "cross-task", rows, pairs, shown)
    summary["paper"] = PAPER
    if "zhukov19 - task-specific" in summary["differences"]:
        gain = summary["differences"]["zhukov19 - task-specific"]["recall"]
        summary["gain_from_sharing"] = {k: gain[k] for k in ("mean", "low", "high", "tasks", "tasks_won", "of_tasks")}
    result = _with_task_columns(summary, results)
    _write_run(config, summary, results, shown)
    drawn = (
        [name for name in ("uniform", "alayrac16", "task-specific", "zhukov19") if name in names] if not config.methods else names
    )
    return write_result(config, result, lambda c, s: draw_task_bars(c, s, drawn))


def _with_task_columns(summary: dict[str, Any], results: Results) -> ExperimentResult:
    """The table with one more column per task, as in the paper."""
    plain = result_table(summary, "Step recall per task, mAP and F1, in percent", results)
    tasks = summary["tasks"]
    rows = []
    for row in plain.rows:
        if row[0] in summary["results"]:
            recalls = summary["results"][row[0]]["recall"]["tasks"]
            cells = [f"{100 * recalls[t]['mean']:.1f}" if t in recalls else "-" for t in tasks]
        else:
            gains = summary["differences"][row[0]]["recall"]["tasks"]
            cells = [f"{100 * gains[t]:+.1f}" if t in gains else "-" for t in tasks]
        rows.append([row[0], *cells, *row[1:]])
    return replace(plain, header=["", *tasks.values(), *plain.header[1:]], rows=rows)


def _write_run(config: ExperimentConfig, summary: Mapping[str, Any], results: Results, shown: Sequence[str]) -> None:
    """Write run.json and localizations.json of the shown arms into `config.out`; zhukov19 comes first."""
    corpus = config.open_first_corpus()
    methods = sorted(shown, key=lambda name: (name != "zhukov19", shown.index(name)))
    localizations = {name: [localization_from_json(p) for p in results[name][0]["parses"]] for name in methods}
    keys = [VideoKey(localization.task, localization.video) for localization in localizations[methods[0]]]
    by_key = {video.key: video for video in corpus.videos}
    videos = tuple(
        RunVideo(key.task, key.video, corpus.n_segments(by_key[key]), None, tuple(corpus.annotations[key]), _windows(corpus, key))
        for key in keys
    )
    run = Run(
        title=f"{summary['experiment']} on {summary['corpus']}, first run",
        kind=RUN_KIND,
        command=config.command or f"crosstask experiment {summary['experiment']} {summary['corpus']}",
        seed=config.seed,
        synthetic=config.synthetic,
        tasks={task: corpus.tasks[task] for task in sorted({key.task for key in keys})},
        videos=videos,
        methods=tuple(methods),
        results={name: {k: v for k, v in results[name][0].items() if k != "parses"} for name in methods},
        settings=dict(summary["learning"]),
        version=__version__,
    )
    write_run(config.out, run, localizations)


def _windows(corpus: Corpus, key: VideoKey) -> tuple[StepInterval, ...] | None:
    return tuple(corpus.windows[key]) if key in corpus.windows else None
