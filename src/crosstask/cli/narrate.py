"""`crosstask narrate`: from subtitles to the windows where a step may lie."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crosstask.cli.options import AsJson, CorpusFolder, VideoList, listed_videos
from crosstask.cli.output import counted, note, percent, print_json, print_table, progress, say

if TYPE_CHECKING:
    from crosstask.narration.narrate import NarrationResult
    from crosstask.records import Corpus, Narration, Video
    from crosstask.text.encoders import Encoder

EncoderName = Annotated[
    str | None,
    typer.Option("--encoder", help="tfidf, max-pooled, learned or sentence [default: sentence where installed, else tfidf]."),
]
EncoderFile = Annotated[
    Path | None, typer.Option("--encoder-file", help="Word vectors, a learned encoder, or a sentence-transformers folder.")
]


def narrate(
    corpus: CorpusFolder,
    encoder: EncoderName = None,
    encoder_file: EncoderFile = None,
    recipe: Annotated[str, typer.Option("--recipe", help="best, or paper (the plain one).")] = "best",
    score: Annotated[bool, typer.Option("--score", help="Score windows against annotation; write no windows.")] = False,
    videos: VideoList = None,
    as_json: AsJson = False,
) -> None:
    """Find in the subtitles where each step may lie, and write these windows beside the corpus for training.

    Example: crosstask narrate data/crosstask --score
    """
    from crosstask.datasets import open_corpus
    from crosstask.narration.narrate import narration_method, transcripts, usable_videos
    from crosstask.records import InputError

    chosen = narration_method(recipe)
    opened = open_corpus(corpus)
    wanted = listed_videos(opened, videos) if videos is not None else list(opened.videos)
    narrated = [v for v in wanted if v.id in opened.subtitles and (not score or v.key in opened.annotations)]
    if not narrated:
        needs = "subtitles and annotation" if score else "subtitles"
        raise InputError(f"corpus '{opened.name}': no video with {needs}; expected crosstask_subtitles/VIDEO.vtt, .srt or .json")
    usable, unusable = usable_videos(opened, narrated)
    opened_encoder = encoder_for(encoder, encoder_file, transcripts(usable))
    with progress("narrating", len(usable)) as advance:
        found = chosen(opened, usable, opened_encoder, advance=advance)
    report_unusable({**unusable, **found.unusable})
    if score:
        _say_scores(opened, narrated, found, as_json)
    else:
        _write(opened, found, len(unusable) + len(found.unusable), as_json)


def encoder_for(name: str | None, file: Path | None, documents: Sequence[str]) -> "Encoder":
    """The encoder asked for, or the best that is installed; slow ones remember their vectors in the user's cache."""
    from importlib.util import find_spec

    from crosstask.storage.places import cache_folder
    from crosstask.text.encoders import CachedEncoder, open_encoder
    from crosstask.text.encoders.sentence import PACKAGED

    if name is None:
        installed = find_spec("sentence_transformers") is not None and (file is not None or find_spec(PACKAGED) is not None)
        name = "sentence" if installed else "tfidf"
        if not installed:
            note("note: comparing words (tfidf); a sentence encoder finds more: pip install 'crosstask[sentence]'")
    opened = open_encoder(name, file, documents)
    if name != "sentence":
        return opened
    return CachedEncoder(opened, cache_folder() / "embeddings", lambda done, total: note(f"encoding: {done} of {total}"))


def report_unusable(unusable: dict[Any, str]) -> None:
    """One line a video, the first ten in full."""
    for key, reason in list(unusable.items())[:10]:
        note(f"warning: {key}: {reason}; it will train with order alone")
    if len(unusable) > 10:
        note(f"warning: and {len(unusable) - 10} more videos without usable subtitles")


def _say_scores(corpus: "Corpus", videos: "list[Video]", found: "NarrationResult", as_json: bool) -> None:
    from crosstask.metrics.windows import score_windows

    known = [video for video in videos if corpus.knows_length(video)]
    shape = score_windows(corpus, known, found.windows).to_json()
    if as_json:
        print_json(shape)
        return
    names = ["precision", "recall", "iou", "hit_rate", "outside"]
    tasks: Any = shape["tasks"]
    rows = [
        [title, *(percent(figures[name]) for name in names), f"{figures['mean_window_s']:.1f}"]
        for title, figures in [*((corpus.tasks[t].title, tasks[t]) for t in tasks), ("mean over tasks", shape)]
    ]
    header = ["task", "precision", "recall", "IoU", "midpoint hits", "outside", "window s"]
    print_table(f"windows of {counted(len(found.windows), 'video')} of {corpus.name}, in percent", header, rows)


def _write(corpus: "Corpus", found: "NarrationResult", n_unusable: int, as_json: bool) -> None:
    """Windows in the published format, in a folder of ours: published constraint files are never touched."""
    from crosstask.datasets import write_step_intervals
    from crosstask.storage import derived_folder, exclusive_or_refused

    folder = derived_folder(corpus.folder or Path()) / "constraints"
    with exclusive_or_refused(folder):  # windows of two recipes must not mix
        for key, windows in sorted(found.windows.items()):
            write_step_intervals(folder / f"{key}.csv", windows)
    published = (corpus.folder or Path()) / "crosstask_constraints"
    hidden = sum((published / f"{key}.csv").is_file() for key in found.windows)
    if hidden:
        note(
            f"note: {hidden} of these videos also have published windows, which training prefers; to train on the new ones, "
            f"move {published} away"
        )
    if as_json:
        print_json({"folder": str(folder), "videos": len(found.windows), "unusable": n_unusable})
    else:
        say(f"windows of {counted(len(found.windows), 'video')} in {folder}")


def localize_narration(
    narrations: list[Path], steps: str, title: str | None, encoder: str | None, encoder_file: Path | None, as_json: bool
) -> None:
    """`localize --narration FILE... --steps ..`: the steps found in subtitles alone; several videos of a task help each other."""
    from crosstask.cli.localize import clock
    from crosstask.narration.localize_speech import localize_from_speech
    from crosstask.records import task_from_steps

    task = task_from_steps(steps, title or "new task")
    said = _narrations(narrations)
    documents = [" ".join(word.text for word in narration.words) for narration in said.values()]
    found = localize_from_speech(said, task, encoder_for(encoder, encoder_file, documents))
    shapes = [localization.to_json() for localization in found]
    if as_json:
        print_json(shapes[0] if len(shapes) == 1 else shapes)
        return
    for localization in found:
        say(localization.video)
        for step in localization.steps:
            say(f"  {clock(step.second)}  {step.step}{'' if step.shown else '  (not mentioned)'}")


def _narrations(paths: list[Path]) -> "dict[str, Narration]":
    from crosstask.datasets.subtitles import looks_english, read_narration

    said = {}
    for path in paths:
        narration = read_narration(path)
        if not looks_english(narration):
            note(f"warning: {path.name} does not look English; the packaged sentence encoder knows English only")
        said[path.stem if path.stem not in said else str(path)] = narration
    return said
