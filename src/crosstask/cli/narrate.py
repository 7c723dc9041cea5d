"""`crosstask narrate`: from subtitles to the windows where a step may lie."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crosstask.cli.options import AsJson, CorpusFolder, VideoList, listed_videos
from crosstask.cli.output import counted, note, percent, print_json, print_table, say
from crosstask.cli.progress import progress

if TYPE_CHECKING:
    from crosstask.narration.narrate import NarrationResult
    from crosstask.records import Corpus, Video, VideoKey

EncoderName = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        help="tfidf, max-pooled, learned, sentence or use [default: sentence for English, use for others, where installed; else tfidf].",
    ),
]
EncoderFile = Annotated[
    Path | None, typer.Option("--encoder-file", help="Word vectors, a learned encoder, or a sentence-transformers folder.")
]


def narrate(
    corpus: CorpusFolder,
    encoder: EncoderName = None,
    encoder_file: EncoderFile = None,
    recipe: Annotated[str, typer.Option("--recipe", help="best, or paper (the supplement's).")] = "best",
    score: Annotated[bool, typer.Option("--score", help="Score windows against annotation; write no windows.")] = False,
    videos: VideoList = None,
    as_json: AsJson = False,
) -> None:
    """Find in the subtitles where each step may lie, and write these windows beside the corpus for training.

    Example: crosstask narrate data/crosstask --score
    """
    from crosstask.datasets import open_corpus
    from crosstask.narration.narrate import narrate_corpus, narration_method
    from crosstask.pipeline.media import files_by_id, media_of
    from crosstask.pipeline.transcribe import remove_outdated
    from crosstask.records import InputError
    from crosstask.storage import existing_derived_folder

    narration_method(recipe)  # an unknown recipe is refused before any work
    opened = open_corpus(corpus)
    if remove_outdated(files_by_id(media_of(opened))[0], existing_derived_folder(corpus, "subtitles")):
        opened = open_corpus(corpus)
    wanted = listed_videos(opened, videos) if videos is not None else list(opened.videos)
    narrated = [v for v in wanted if v.id in opened.subtitles and (not score or v.key in opened.annotations)]
    if not narrated:
        needs = "subtitles and annotation" if score else "subtitles"
        raise InputError(
            f"corpus '{opened.name}': no video with {needs}; expected VIDEO.vtt, .srt or .json beside the videos or in crosstask_subtitles/"
        )
    with progress("narrating", len(narrated)) as advance:
        found = narrate_corpus(opened, recipe, encoder, encoder_file, narrated, advance)
    report_unusable(dict(found.unusable))
    if score:
        _say_scores(opened, narrated, found, as_json)
    else:
        _write(opened, found, {video.key for video in opened.videos} - {video.key for video in wanted}, as_json)


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


def _write(corpus: "Corpus", found: "NarrationResult", others: "set[VideoKey]", as_json: bool) -> None:
    """Windows in the published format, in a folder of ours, where those of `others` stay; published constraint files are never touched."""
    from collections import ChainMap

    from crosstask.datasets import write_windows
    from crosstask.datasets.step_intervals import StepIntervalFiles
    from crosstask.storage import derived_folder, nonblocking_lock

    folder = derived_folder(corpus.folder or Path(), "constraints")
    with nonblocking_lock(folder):  # windows of two recipes must not mix
        write_windows(folder, corpus.tasks, found.windows, corpus.subtitles, kept=others)
    own: Any = corpus.windows.maps[0] if isinstance(corpus.windows, ChainMap) else None
    if isinstance(own, StepIntervalFiles) and (hidden := sum(key in own for key in found.windows)):
        note(
            f"note: {hidden} of these videos also have windows in {own.folder}, which training prefers; to train on the new "
            "ones, move that folder away"
        )
    if as_json:
        print_json({"folder": str(folder), "videos": len(found.windows), "unusable": len(found.unusable)})
    else:
        say(f"windows of {counted(len(found.windows), 'video')} in {folder}")
