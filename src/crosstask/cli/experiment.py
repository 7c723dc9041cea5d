"""`crosstask experiment`: the paper's tables and figures, one name each."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from crosstask.cli.options import AsJson, Seed, check_engine
from crosstask.cli.output import note, print_json, print_table, recorded_command, say


def experiment(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="cross-task, sharing, transfer, narration, metrics, no-narration, sharing-gain, depth, optimiser, few-videos, "
            "never-trained or sharing-controls.",
        ),
    ],
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="A corpus folder, or synthetic:SHAPE:DIFFICULTY:SEED:D.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for jobs, results, table and figure.")],
    runs: Annotated[int, typer.Option("--runs", min=1, help="Splits (or synthetic corpora), each with its own seed.")] = 20,
    seed: Seed = 0,
    split_by: Annotated[
        str, typer.Option("--split-by", help="paper, or group (id up to the first '_'); few-videos: group:2 for the second part.")
    ] = "paper",
    shared_videos: Annotated[str, typer.Option("--shared-videos", help="keep, or drop training rows of judged videos.")] = "keep",
    train_videos: Annotated[int, typer.Option("--train-videos", min=1, help="Training videos per primary task.")] = 30,
    tune: Annotated[bool, typer.Option("--tune", help="Choose settings on validation videos, and record them.")] = False,
    methods: Annotated[
        str | None,
        typer.Option("--methods", help="cross-task: compare these, e.g. hmm,zhukov19,mine.py:Mine. Default: the paper's."),
    ] = None,
    sharing: Annotated[
        str | None, typer.Option("--sharing", help="cross-task: what methods share; a level, or FILE.py:NAME of your own.")
    ] = None,
    recipe: Annotated[str, typer.Option("--recipe", help="paper, or best: adds hmm, the default method, as a row.")] = "paper",
    learning_rate: Annotated[float | None, typer.Option("--learning-rate", help="Step size of Adam [default: 1e-5].")] = None,
    dropout: Annotated[float | None, typer.Option("--dropout", help="Share of inputs dropped [default: 0.7].")] = None,
    initial_epochs: Annotated[
        int | None, typer.Option("--initial-epochs", min=0, help="Epochs on random labels [default: 30].")
    ] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", min=0, help="Epochs of alternation [default: 30].")] = None,
    counts: Annotated[str, typer.Option("--counts", help="few-videos: training videos per task.")] = "1,2,3,5",
    folds: Annotated[int, typer.Option("--folds", help="few-videos: parts of the people, each tested once.")] = 3,
    names: Annotated[str, typer.Option("--names", help="few-videos: given, or published (cut from descriptions).")] = "given",
    supervision: Annotated[
        str | None, typer.Option("--supervision", help="few-videos: of windows,order,labels. Default: all.")
    ] = None,
    engine: Annotated[str, typer.Option("--engine", help="local, or ray.")] = "local",
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes at once.")] = 1,
    address: Annotated[str | None, typer.Option("--address", help="Ray: an existing cluster [one is started here].")] = None,
    word_vectors: Annotated[Path | None, typer.Option("--word-vectors", help="narration: for the max-pooled encoder.")] = None,
    learned_encoder: Annotated[Path | None, typer.Option("--learned-encoder", help="narration: from encoder train.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run an experiment of the paper or of this project on a corpus; repeat the command to resume.

    Example: crosstask experiment cross-task data/crosstask --runs 20 --out cross-task
    """
    from crosstask.corpus_building.task_map import draw_task_map
    from crosstask.datasets import open_corpus
    from crosstask.experiments.corpora import synthetic_name
    from crosstask.experiments.registry import experiment_named
    from crosstask.experiments.runner import RUN_KIND, ExperimentConfig
    from crosstask.experiments.tables import refuse_other_experiment
    from crosstask.pipeline.preflight import refuse_outdated_features
    from crosstask.report.experiment import write_experiment_report
    from crosstask.runs import claim_run_folder
    from crosstask.storage import nonblocking_lock

    asks = experiment_named(name)
    few = name in ("few-videos", "never-trained", "sharing-controls")
    if not few:
        _refuse("--split-by", split_by, ("paper", "group"))
    _refuse("--names", names, ("given", "published"))
    _refuse("--shared-videos", shared_videos, ("keep", "drop"))
    check_engine(engine)
    _refuse("--recipe", recipe, ("paper", "best"))
    learning = {"learning_rate": learning_rate, "dropout": dropout, "initial_epochs": initial_epochs, "epochs": epochs}
    files = {"max-pooled": word_vectors, "learned": learned_encoder}
    config = ExperimentConfig(
        corpus=corpus,
        out=out,
        runs=runs,
        seed=seed,
        split_by=split_by,
        shared_videos=shared_videos,
        train_videos_per_task=train_videos,
        learning=_checked({k: v for k, v in learning.items() if v is not None}),
        tune=tune,
        with_hmm=recipe == "best",
        methods=_methods(name, methods, sharing),
        sharing=sharing,
        counts=_counts(counts),
        folds=folds,
        names=names,
        supervision=_supervision(supervision),
        engine=engine,
        workers=workers,
        address=address,
        encoder_files={k: str(v) for k, v in files.items() if v is not None},
        progress=watched,
        command=recorded_command(context),
    )
    opened = open_corpus(corpus) if synthetic_name(corpus) is None else None
    if opened is not None:
        refuse_outdated_features(opened)
    with nonblocking_lock(out):
        refuse_other_experiment(config, name)
        claim_run_folder(out, RUN_KIND, ids=() if opened is None else [video.id for video in opened.videos])
        result = asks(config)
        tasks = config.open_first_corpus().tasks
        draw_task_map(out, tasks, seed)
        write_experiment_report(out, result.title, result.header, result.rows, result.summary, tasks)
    if as_json:
        print_json(result.summary)
        return
    print_table(f"{result.title}: {result.summary['corpus']}, {result.summary['runs']} runs", result.header, result.rows)
    for arm, chosen in result.summary.get("tuning", {}).items():
        if edges := sorted({name for choice in chosen for name in choice["edge"]}):
            note(f"{arm}: the choice of {', '.join(edges)} lies at the end of the values tried")
    say(f"report.html, results.json, results.csv, table.tex and figures in {out}")


def _methods(experiment: str, methods: str | None, sharing: str | None) -> tuple[str, ...]:
    """The methods of a comma-separated list, each known or loadable."""
    from crosstask.methods.own_code import is_own, load_own
    from crosstask.methods.table import canonical_name, resolve_method
    from crosstask.records import InputError

    few = experiment in ("few-videos", "never-trained", "sharing-controls") and sharing is None
    if experiment != "cross-task" and not few and (methods is not None or sharing is not None):
        option = "--methods" if methods is not None else "--sharing"
        raise InputError(
            f"{option}: experiment '{experiment}' compares fixed methods; choose methods with `experiment cross-task`"
        )
    if sharing is not None and is_own(sharing):
        load_own(sharing)
    names = [name.strip() for name in (methods or "").split(",") if name.strip()]
    if methods is not None and not names:
        raise InputError("--methods: no name; expected e.g. hmm,zhukov19")
    for name in names:
        if is_own(name):
            resolve_method(name)
    return tuple(name if is_own(name) else canonical_name(name) for name in names)


def _counts(text: str) -> tuple[int, ...]:
    """Numbers of videos, ascending.

    >>> _counts("3, 1")
    (1, 3)
    """
    from crosstask.records import InputError

    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() and 0 < int(part[:9]) < 10_000 for part in parts):
        raise InputError(f"--counts {text}: expected numbers of videos from 1 on, e.g. 1,2,3,5")
    return tuple(sorted({int(part) for part in parts}))


def _supervision(text: str | None) -> tuple[str, ...]:
    """The kinds of supervision in a comma-separated list."""
    kinds = tuple(kind.strip() for kind in (text or "").split(",") if kind.strip())
    for kind in kinds:
        _refuse("--supervision", kind, ("windows", "order", "labels"))
    return kinds


def _refuse(option: str, given: str, expected: tuple[str, ...]) -> None:
    from crosstask.records import InputError

    if given not in expected:
        raise InputError(f"{option} {given}: expected {' or '.join(expected)}")


def _checked(learning: dict[str, Any]) -> dict[str, Any]:
    from crosstask.learning.zhukov19.alternation import AlternationSettings
    from crosstask.records import InputError

    try:
        AlternationSettings(**learning)
    except ValueError as error:
        raise InputError(str(error)) from None
    return learning


@contextmanager
def watched(what: str, total: int) -> Iterator[Callable[[], None]]:
    """Lines on stderr with the time left, at most one every ten seconds; finished jobs are counted, not timed."""
    from time import perf_counter

    begun = spoken = perf_counter()
    done = at_start = 0

    def advance() -> None:
        nonlocal done, at_start, begun, spoken
        done += 1
        now = perf_counter()
        if now - begun < 0.5:  # read from a file, not computed
            at_start, begun = done, now
        elif done == total or now - spoken > 10:
            spoken = now
            left = (now - begun) / max(1, done - at_start) * (total - done)
            note(f"{what}: {done} of {total}, about {left / 60:.0f} min left" if done < total else f"{what}: {total} of {total}")

    yield advance
