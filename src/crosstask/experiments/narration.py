"""Table S1: precision and recall of narration windows, by encoder, for both values of `narrate --recipe`."""

from collections.abc import Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from crosstask.experiments.corpora import open_once
from crosstask.experiments.figures import COLOURS, new_figure, save_figure, set_title
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.tables import FORMAT, ExperimentResult, write_result
from crosstask.extraction.content_hash import content_digest
from crosstask.jobs import Job
from crosstask.metrics.windows import score_windows
from crosstask.narration.narrate import NARRATION_METHODS, transcripts, usable_videos
from crosstask.records import InputError
from crosstask.storage.derived_folders import cache_folder
from crosstask.text.encoders import CachedEncoder, open_encoder
from crosstask.text.encoders.sentence import PACKAGED

PAPER = {  # Table S1, 18 tasks
    "max-pooled, paper": {"precision": 0.116, "recall": 0.104},
    "tfidf, paper": {"precision": 0.133, "recall": 0.114},
    "learned, paper": {"precision": 0.159, "recall": 0.139},
}
MEASURES = ("precision", "recall", "iou", "hit_rate", "outside")


def narration(config: ExperimentConfig) -> ExperimentResult:
    """`experiment narration`: Table S1 on the videos with subtitles and annotation; nothing is random, so there is one run."""
    values = {"corpus": config.corpus, "files": _files_digest(config)}
    jobs = {
        f"{name}, {recipe}": Job(f"{name}-{recipe}", {**values, "encoder": name, "file": file, "recipe": recipe})
        for name, file in available_encoders(config.encoder_files).items()
        for recipe in sorted(NARRATION_METHODS, reverse=True)
    }
    results = dict(zip(jobs, config.run_jobs("narration", list(jobs.values()), score_narration), strict=True))
    corpus = config.open_first_corpus()
    summary: dict[str, Any] = {
        "format": FORMAT,
        "experiment": "narration",
        "corpus": config.corpus if config.synthetic else corpus.name,
        "synthetic": config.synthetic,
        "runs": 1,
        "tasks": {t: corpus.tasks[t].title for t in sorted(next(iter(results.values()))["tasks"])},
        "results": results,
        "paper": PAPER,
    }
    rows = [[name, *(f"{100 * of[f]:.1f}" for f in MEASURES), f"{of['mean_window_s']:.1f}"] for name, of in results.items()]
    csv_rows: list[list[Any]] = [["setting", "task", "figure", "value"]]
    for name, of in results.items():
        for task, figures in [("mean", of), *of["tasks"].items()]:
            csv_rows += [[name, task, f, repr(figures[f])] for f in (*MEASURES, "mean_window_s")]
    header = ["", "precision", "recall", "IoU", "midpoint hits", "outside", "window s"]
    return write_result(
        config, ExperimentResult(summary, "Narration windows against annotation, in percent", header, rows, csv_rows), _draw
    )


def _files_digest(config: ExperimentConfig) -> str:
    """A digest of the subtitles and of the files of encoders: where they have changed, finished results are not used again."""
    subtitles = getattr(config.open_first_corpus().subtitles, "paths", {})
    files = [(name, Path(file)) for name, file in sorted(config.encoder_files.items())]
    words = [(name, path.with_suffix(".words.txt")) for name, path in files]  # of the vectors in an .npy file
    named = [*sorted(subtitles.items()), *files, *words]
    return sha256(repr([(name, content_digest(path)) for name, path in named if path.is_file()]).encode()).hexdigest()


def available_encoders(files: Mapping[str, str]) -> dict[str, str | None]:
    """Name -> file of the encoders to compare: TF-IDF, those whose file is given, and the sentence encoder where installed."""
    found: dict[str, str | None] = {"tfidf": None, **files}
    if find_spec("sentence_transformers") is not None and find_spec(PACKAGED) is not None:
        found["sentence"] = None
    return dict(sorted(found.items()))


def score_narration(values: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of `narrate --score` for one encoder and recipe."""
    corpus = open_once(values["corpus"])
    annotated = [v for v in corpus.videos if v.id in corpus.subtitles and v.key in corpus.annotations and corpus.knows_length(v)]
    if not annotated:
        raise InputError(f"corpus '{corpus.name}': no video with subtitles and annotation; narration needs both")
    usable, _ = usable_videos(corpus, annotated)
    encoder = open_encoder(values["encoder"], Path(values["file"]) if values["file"] else None, transcripts(usable))
    if values["encoder"] == "sentence":
        encoder = CachedEncoder(encoder, cache_folder() / "embeddings")
    found = NARRATION_METHODS[values["recipe"]](corpus, usable, encoder)
    return score_windows(corpus, annotated, found.windows).to_json()


def _draw(config: ExperimentConfig, summary: Mapping[str, Any]) -> None:
    """Scatter plot of precision and recall of the windows."""
    figure, axes = new_figure(6, 4.2)
    for i, (name, of) in enumerate(summary["results"].items()):
        axes.scatter([100 * of["recall"]], [100 * of["precision"]], color=COLOURS[i % len(COLOURS)], label=name)
    axes.set(xlabel="recall of the windows, %", ylabel="precision of the windows, %")
    set_title(figure, summary, "narration")
    axes.legend(fontsize=8)
    save_figure(figure, config.out)
