"""The run folder of an experiment: some parses of the first run, so that people can look at what the numbers mean."""

from collections.abc import Mapping, Sequence
from typing import Any

from crosstask import __version__
from crosstask.experiments.runner import ExperimentConfig, Results
from crosstask.records import VideoKey, localization_from_json
from crosstask.runs import Run, RunVideo, write_run


def write_run_of(config: ExperimentConfig, summary: Mapping[str, Any], results: Results, shown: Sequence[str]) -> None:
    """Write run.json and localizations.json of the shown settings into `config.out`; the proposed method comes first."""
    corpus = config.opened()
    methods = sorted(shown, key=lambda name: (name != "proposed", shown.index(name)))
    parses = {name: [localization_from_json(p) for p in results[name][0]["parses"]] for name in methods}
    keys = [VideoKey(parse.task, parse.video) for parse in parses[methods[0]]]
    by_key = {video.key: video for video in corpus.videos}
    videos = tuple(
        RunVideo(key.task, key.video, corpus.n_segments(by_key[key]), None, tuple(corpus.annotations[key]), _windows(corpus, key))
        for key in keys
    )
    dropped = ("parses",)
    figures = {name: {k: v for k, v in results[name][0].items() if k not in dropped} for name in methods}
    run = Run(
        title=f"{summary['experiment']} on {summary['corpus']}, first run",
        kind="experiment",
        command=f"crosstask experiment {summary['experiment']} {summary['corpus']}",
        seed=config.seed,
        synthetic=config.synthetic,
        tasks={task: corpus.tasks[task] for task in sorted({key.task for key in keys})},
        videos=videos,
        methods=tuple(methods),
        results=figures,
        settings=dict(summary["learning"]),
        version=__version__,
    )
    write_run(config.out, run, parses)


def _windows(corpus: Any, key: VideoKey) -> Any:
    return tuple(corpus.windows[key]) if key in corpus.windows else None
