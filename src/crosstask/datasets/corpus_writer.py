"""Writing any corpus, in the published layout or as a `corpus.toml` folder; features are pooled to one row per second."""

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from filecmp import cmp
from pathlib import Path

from crosstask.datasets.corpus_toml import read_corpus_toml, write_corpus_toml
from crosstask.datasets.published_texts import write_published_texts
from crosstask.datasets.release import one_line, read_release, videos_text, write_release
from crosstask.datasets.step_intervals import write_step_intervals
from crosstask.datasets.subtitles.webvtt import write_webvtt
from crosstask.features import write_feature_spec, write_rows, write_text_side
from crosstask.features.pooling import pool_to_seconds
from crosstask.records import Corpus, FeatureRows, InputError, NoFeatures, StepInterval, VideoKey, folded_name
from crosstask.storage import csv_text, move_files, nonblocking_lock, paths_in, write_text

LAYOUTS = ("release", "corpus.toml")
STAGING = ".unfinished-conversion"  # in the folder that is written
_LISTS = ("corpus.toml", "tasks_primary.txt")  # they get their final name last: without them a folder is no corpus
# Folders of both layouts; what else lies in the folder of a corpus, such as videos or a run, is left alone.
_PARTS = (
    *("crosstask_release/annotations", "crosstask_release", "crosstask_constraints", "crosstask_features", "crosstask_subtitles"),
    *("annotations", "constraints", "features", ".crosstask/subtitles"),
)


def write_corpus(
    corpus: Corpus, folder: Path, layout: str, rate: float = 1.0, advance: Callable[[], None] = lambda: None
) -> dict[str, int]:
    """Counts of what was written (tasks, videos, annotations, ...); `rate` is the rows per second of the corpus's features.

    A folder that holds other files than those of this corpus is refused, so that nothing is lost or mixed.
    """
    if layout not in LAYOUTS:
        raise InputError(f"--to {layout}: expected release or corpus.toml")
    staging = folder / STAGING
    with nonblocking_lock(folder):
        shutil.rmtree(staging, ignore_errors=True)  # of a killed conversion
        try:
            renamed = replace_underscores_in_task_ids(corpus)
            counts = _write(renamed, staging, layout, rate, advance)
            _refuse_other_meaning(renamed, staging, layout)
            _refuse_other_files(folder, staging)
            move_files(staging, folder, last=_LISTS)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return counts


def _write(corpus: Corpus, folder: Path, layout: str, rate: float, advance: Callable[[], None]) -> dict[str, int]:
    """Write a corpus into an empty folder; returns the counts."""
    ids = sorted({video.id for video in corpus.videos})
    features = folder / ("crosstask_features" if layout == "release" else "features")
    subtitles = folder / "crosstask_subtitles" if layout == "release" else folder / ".crosstask" / "subtitles"
    lengths = _write_features(corpus.features, ids, features, rate, advance)
    # Specs are compared as text with those of models and other corpora: this wording must not change.
    spec = corpus.feature_spec if rate == 1 else f"{corpus.feature_spec}; {rate:g} rows a second, mean over whole seconds"
    if lengths:
        write_feature_spec(features, spec)
        if corpus.text_side is not None:
            write_text_side(features, corpus.text_side)
    with_subtitles = [video_id for video_id in ids if video_id in corpus.subtitles]
    for video_id in with_subtitles:
        write_webvtt(subtitles / f"{video_id}.vtt", corpus.subtitles[video_id])
    known = {video.id: corpus.seconds[video.id] for video in corpus.videos if video.id in corpus.seconds} | lengths
    without_features = replace(corpus, features=NoFeatures(), seconds=known)
    (write_release if layout == "release" else _write_corpus_toml_folder)(without_features, folder)
    return {
        "tasks": len(corpus.tasks),
        "videos": len(corpus.videos),
        "annotations": sum(video.key in corpus.annotations for video in corpus.videos),
        "windows": sum(video.key in corpus.windows for video in corpus.videos),
        "subtitles": len(with_subtitles),
        "features": len(lengths),
    }


def _refuse_other_meaning(corpus: Corpus, written: Path, layout: str) -> None:
    """An error where the corpus that was written cannot be read, or says something else: a name that the layout has no place for."""
    try:
        read = read_release(written) if layout == "release" else read_corpus_toml(written)
        before, after = _contents(corpus), _contents(read)
    except InputError as error:
        raise InputError(f"corpus '{corpus.name}' cannot be written as {layout}: {error}") from None
    for name, value in before.items():
        if value != after.get(name):
            raise InputError(
                f"corpus '{corpus.name}' cannot be written as {layout}: {name} would be read as something else; rename it"
            )


def _contents(corpus: Corpus) -> dict[str, object]:
    """What is said of each task and video; times to the millisecond."""

    def rounded(intervals: Iterable[StepInterval]) -> list[tuple[int, str, str]]:
        return sorted((i.step, f"{i.interval.start_s:.3f}", f"{i.interval.end_s:.3f}") for i in intervals)

    found: dict[str, object] = {
        f"task '{task.id}'": (one_line(task.title), [one_line(step) for step in task.steps], task.primary)
        for task in corpus.tasks.values()
    }
    for video in corpus.videos:
        found[f"video {video.key}"] = [
            rounded(known[video.key]) if video.key in known else None for known in (corpus.annotations, corpus.windows)
        ]
    return found


def _refuse_other_files(folder: Path, staging: Path) -> None:
    """An error where the folder has a file of a corpus that differs from the one in `staging`, or is not there; a repeated conversion has none."""
    written = {path.relative_to(staging) for path in staging.rglob("*") if path.is_file()}
    if not any((folder / name).exists() for name in ("corpus.toml", "crosstask_release/tasks_primary.txt")):
        ours = {name.parts[0] for name in written} | {"videos", "run"}
        if foreign := [path for path in paths_in(folder) if path.name not in ours and not path.name.startswith(".")]:
            raise InputError(f"{folder}: holds {foreign[0].name}, which is not of this corpus; expected a new folder")
    for name in sorted(written):
        if (folder / name).exists() and not cmp(folder / name, staging / name, shallow=False):
            raise InputError(
                f"{folder / name}: differs from what this conversion writes and would be lost; expected a new folder"
            )
    there = [folder / "corpus.toml", folder / "published.json", *(path for part in _PARTS for path in paths_in(folder / part))]
    for path in there:
        if path.is_file() and not path.name.startswith(".") and path.relative_to(folder) not in written:
            raise InputError(f"{path}: is not written by this conversion and would be mixed with it; expected a new folder")


def replace_underscores_in_task_ids(corpus: Corpus) -> Corpus:
    """The same corpus with '-' for '_' in task ids, since a `corpus.toml` takes none with '_'."""
    new = {task_id: task_id.replace("_", "-") for task_id in corpus.tasks}
    if len(set(map(folded_name, new.values()))) < len(new):
        raise InputError(f"corpus '{corpus.name}': two task ids differ only in '_' and '-', or in case; rename one of them")
    if all(old == replaced for old, replaced in new.items()):
        return corpus

    def with_new_keys(intervals: Mapping[VideoKey, tuple[StepInterval, ...]]) -> dict[VideoKey, tuple[StepInterval, ...]]:
        keys = [video.key for video in corpus.videos if video.key in intervals]
        return {VideoKey(new[key.task], key.video): intervals[key] for key in keys}

    return replace(
        corpus,
        tasks={new[task.id]: replace(task, id=new[task.id]) for task in corpus.tasks.values()},
        videos=tuple(replace(video, task=new[video.task]) for video in corpus.videos),
        validation=frozenset(VideoKey(new[key.task], key.video) for key in corpus.validation),
        annotations=with_new_keys(corpus.annotations),
        windows=with_new_keys(corpus.windows),
    )


def _write_features(
    features: FeatureRows, ids: list[str], folder: Path, rate: float, advance: Callable[[], None]
) -> dict[str, int]:
    """T of every video whose rows were written."""
    lengths = {}
    for video_id in ids:
        if video_id in features:
            rows = features.rows(video_id) if rate == 1 else pool_to_seconds(features.rows(video_id), rate)
            write_rows(folder / f"{video_id}.npy", rows)
            lengths[video_id] = len(rows)
        advance()
    return lengths


def _write_corpus_toml_folder(corpus: Corpus, folder: Path) -> None:
    """Write corpus.toml, videos.csv, lengths, annotations and windows; this layout cannot mark validation videos."""
    write_corpus_toml(folder / "corpus.toml", corpus.tasks)
    write_published_texts(corpus.tasks.values(), folder)
    write_text(folder / "videos.csv", videos_text(corpus.videos))
    write_text(folder / "video_seconds.csv", csv_text(sorted(corpus.seconds.items())))
    for video in corpus.videos:
        if video.key in corpus.annotations:
            write_step_intervals(folder / "annotations" / f"{video.key}.csv", corpus.annotations[video.key])
        if video.key in corpus.windows:
            write_step_intervals(folder / "constraints" / f"{video.key}.csv", corpus.windows[video.key])
