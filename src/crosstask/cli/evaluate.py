"""`crosstask evaluate`: the metrics of a model or a method on annotated videos."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crosstask.cli.options import (
    AsJson,
    CorpusFolder,
    Decoder,
    MethodName,
    Seed,
    SplitSeed,
    VideoList,
    check_decoder,
    test_videos,
)
from crosstask.cli.output import counted, note, percent, print_json, print_table, report_skipped
from crosstask.cli.progress import progress

if TYPE_CHECKING:
    from crosstask.model.model import Model
    from crosstask.records import Corpus, Video

METRICS = {"recall": "step recall", "map": "frame mAP", "f1": "F1", "start_5s": "starts within 5 s", "iou": "IoU"}


def evaluate(
    corpus: CorpusFolder,
    model: Annotated[Path | None, typer.Option("--model", help="Model file written by train.")] = None,
    method: MethodName = None,
    videos: VideoList = None,
    split: SplitSeed = None,
    decoder: Decoder = None,
    with_narration: Annotated[
        bool,
        typer.Option(
            "--with-narration", help="Decode with the narration of the evaluated videos too; only models of method hmm."
        ),
    ] = False,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Repeat a random method and report the mean.")] = 1,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure step recall, frame mAP, F1, starts within 5 s and IoU on annotated videos.

    Example: crosstask evaluate data/crosstask --method uniform
    """
    from crosstask.datasets import open_corpus
    from crosstask.evaluation.evaluate import evaluate as evaluate_model
    from crosstask.pipeline.preflight import refuse_outdated_features
    from crosstask.records import InputError

    check_decoder(decoder)
    if (model is None) == (method is None):
        raise InputError("say what to evaluate: either --model FILE or --method uniform|random|zero-shot")
    opened = open_corpus(corpus)
    refuse_outdated_features(opened)
    tested = test_videos(opened, videos, split)
    if not tested and split is not None:
        raise InputError(
            f"corpus '{opened.name}': --split {split} leaves no annotated video to evaluate; it trains on 30 videos a task and tests the "
            "others, so name the videos with --videos LIST instead"
        )
    scorer: Any = method if model is None else _loaded(model, opened, tested)
    results = []
    for draw in range(draws):
        with progress("evaluating", len(tested)) as advance:
            found = evaluate_model(scorer, opened, tested or None, decoder, seed + draw, advance, with_narration)
            results.append(found.to_json())
    result = results[0] if draws == 1 else _mean(results)
    report_skipped(result["skipped"])
    if as_json:
        print_json(result)
    else:
        _print(result, opened)


def _loaded(path: Path, corpus: "Corpus", tested: "list[Video]") -> "Model":
    """The model in a file; a note where it was trained on some of the tested videos."""
    from crosstask.features import refuse_other_spec
    from crosstask.model.file import load_model

    model = load_model(path)
    refuse_other_spec(model.feature_spec, corpus.feature_spec)
    seen = sum(video.key in model.trained_on for video in tested)
    if seen:
        note(f"warning: {seen} of {len(tested)} videos were used to train this model; use --videos or --split to test on others")
    return model


def _mean(results: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean of several draws, figure by figure, with the spread of the means."""
    import numpy as np

    merged: dict[str, Any] = {"videos": results[0]["videos"], "skipped": results[0]["skipped"], "draws": len(results)}
    for measure in METRICS:
        tasks = results[0][measure]["tasks"]
        means = [result[measure]["mean"] for result in results]
        merged[measure] = {
            "mean": float(np.mean(means)),
            "deviation": float(np.std(means, ddof=1)),
            "tasks": {task: float(np.mean([result[measure]["tasks"][task] for result in results])) for task in tasks},
        }
    return merged


def _print(result: dict[str, Any], corpus: "Corpus") -> None:
    rows = []
    for task in result["recall"]["tasks"]:
        cells = [percent(result[measure]["tasks"].get(task)) for measure in METRICS]
        rows.append([corpus.tasks[task].title, *cells])
    rows.append(["mean over tasks", *(percent(result[measure]["mean"]) for measure in METRICS)])
    print_table(f"{counted(result['videos'], 'video')} of {corpus.name}, in percent", ["task", *METRICS.values()], rows)
