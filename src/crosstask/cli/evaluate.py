"""`crosstask evaluate`: how good a model or a method is on annotated videos."""

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
from crosstask.cli.output import counted, note, percent, print_json, print_table, progress

if TYPE_CHECKING:
    from crosstask.methods.protocols import Scorer
    from crosstask.records import Corpus, Video


def evaluate(
    corpus: CorpusFolder,
    model: Annotated[Path | None, typer.Option("--model", help="Model file written by train.")] = None,
    method: MethodName = None,
    videos: VideoList = None,
    split: SplitSeed = None,
    decoder: Decoder = "once",
    draws: Annotated[int, typer.Option("--draws", min=1, help="Repeat a random method and report the mean.")] = 1,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure step recall, frame mAP and F1 on annotated videos.

    Example: crosstask evaluate data/crosstask --method uniform
    """
    from crosstask.datasets import open_corpus
    from crosstask.evaluation.evaluate import evaluate as judge
    from crosstask.records import InputError

    check_decoder(decoder)
    opened = open_corpus(corpus)
    judged = test_videos(opened, videos, split)
    if not judged and split is not None:
        raise InputError(
            f"corpus '{opened.name}': --split {split} leaves no annotated video to judge; it trains on 30 videos a task and judges the "
            "others, so name the videos with --videos LIST instead"
        )
    if not judged:
        raise InputError(
            f"corpus '{opened.name}': no annotated video of known length to judge; expected annotations/TASK_VIDEO.csv"
        )
    results = []
    for draw in range(draws):
        scorer = _scorer(opened, model, method, seed + draw, judged)
        with progress("evaluating", len(judged)) as advance:
            results.append(judge(opened, scorer, judged, advance, decoder).to_json())
    result = results[0] if draws == 1 else _mean(results)
    for reason in result["skipped"].values():
        note(f"warning: set aside: {reason}")
    if as_json:
        print_json(result)
    else:
        _print(result, opened)


def _scorer(corpus: "Corpus", model: Path | None, method: str | None, seed: int, judged: "list[Video]") -> "Scorer":
    import numpy as np

    from crosstask.records import InputError

    if (model is None) == (method is None):
        raise InputError("say what to evaluate: either --model FILE or --method uniform|random")
    if method is not None:
        from crosstask.methods import method_named
        from crosstask.methods.table import UNTRAINED, canonical_name

        name = canonical_name(method)
        if name not in UNTRAINED:
            raise InputError(
                f"method '{name}' must be trained first: `crosstask train CORPUS --method {name} --out FILE`, then --model FILE"
            )
        return method_named(name).fit(corpus, np.random.default_rng(seed))
    from crosstask.model.file import load_model

    assert model is not None
    loaded = load_model(model)
    refuse_other_features(loaded.feature_spec, corpus.feature_spec)
    seen = sum(video.key in loaded.trained_on for video in judged)
    if seen:
        note(f"warning: {seen} of {len(judged)} videos were used to train this model; use --videos or --split to judge on others")
    return loaded


def refuse_other_features(trained: str, given: str) -> None:
    """Stop when features were made another way than those a model was trained on."""
    from crosstask.records import InputError

    if "unknown" not in (trained, given) and trained != given:
        raise InputError(f"features are '{given}' but the model was trained on '{trained}'; extract with --features {trained}")


def _mean(results: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean of several draws, figure by figure, with the spread of the means."""
    import numpy as np

    merged: dict[str, Any] = {"videos": results[0]["videos"], "skipped": results[0]["skipped"], "draws": len(results)}
    for measure in ("recall", "map", "f1"):
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
        cells = [percent(result[measure]["tasks"].get(task)) for measure in ("recall", "map", "f1")]
        rows.append([corpus.tasks[task].title, *cells])
    rows.append(["mean over tasks", *(percent(result[measure]["mean"]) for measure in ("recall", "map", "f1"))])
    print_table(
        f"{counted(result['videos'], 'video')} of {corpus.name}, in percent", ["task", "step recall", "frame mAP", "F1"], rows
    )
