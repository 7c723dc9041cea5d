"""Any corpus to files: the published layout, or a `corpus.toml` with what belongs to it. Features are pooled to whole seconds on the way."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from crosstask.datasets.corpus_toml import write_corpus_toml
from crosstask.datasets.release import videos_text, write_release, write_step_intervals
from crosstask.datasets.subtitles.webvtt import write_webvtt
from crosstask.features import write_rows
from crosstask.features.pooling import pool_to_seconds
from crosstask.records import Corpus, FeatureRows, InputError, NoFeatures, StepInterval, VideoKey
from crosstask.storage import write_text

LAYOUTS = ("release", "corpus.toml")


def write_corpus(
    corpus: Corpus, folder: Path, layout: str, rate: float = 1.0, advance: Callable[[], None] = lambda: None
) -> dict[str, int]:
    """How many videos, annotations, windows, subtitles and features were written; `rate` is rows a second of the features."""
    if layout not in LAYOUTS:
        raise InputError(f"--to {layout}: expected release or corpus.toml")
    corpus = without_underscores_in_task_ids(corpus)
    ids = sorted({video.id for video in corpus.videos})
    features = folder / ("crosstask_features" if layout == "release" else "features")
    subtitles = folder / "crosstask_subtitles" if layout == "release" else folder / ".crosstask" / "subtitles"
    lengths = _write_features(corpus.features, ids, features, rate, advance)
    recipe = corpus.feature_spec if rate == 1 else f"{corpus.feature_spec}; {rate:g} rows a second, mean over whole seconds"
    if lengths:
        write_text(features / "recipe.txt", recipe + "\n")
    spoken = [video_id for video_id in ids if video_id in corpus.subtitles]
    for video_id in spoken:
        write_webvtt(subtitles / f"{video_id}.vtt", corpus.subtitles[video_id])
    known = {video.id: corpus.seconds[video.id] for video in corpus.videos if video.id in corpus.seconds} | lengths
    described = replace(corpus, features=NoFeatures(), seconds=known)
    (write_release if layout == "release" else _write_own)(described, folder)
    return {
        "tasks": len(corpus.tasks),
        "videos": len(corpus.videos),
        "annotations": sum(video.key in corpus.annotations for video in corpus.videos),
        "windows": sum(video.key in corpus.windows for video in corpus.videos),
        "subtitles": len(spoken),
        "features": len(lengths),
    }


def without_underscores_in_task_ids(corpus: Corpus) -> Corpus:
    """The same corpus, '_' in task ids replaced by '-': files are called TASK_VIDEO and split at the first '_'."""
    new = {task_id: task_id.replace("_", "-") for task_id in corpus.tasks}
    if all(old == short for old, short in new.items()):
        return corpus
    if len(set(new.values())) < len(new):
        raise InputError(f"corpus '{corpus.name}': two task ids differ in '_' and '-' alone; rename one of them")

    def moved(intervals: Mapping[VideoKey, tuple[StepInterval, ...]]) -> dict[VideoKey, tuple[StepInterval, ...]]:
        keys = [video.key for video in corpus.videos if video.key in intervals]
        return {VideoKey(new[key.task], key.video): intervals[key] for key in keys}

    return replace(
        corpus,
        tasks={new[task.id]: replace(task, id=new[task.id]) for task in corpus.tasks.values()},
        videos=tuple(replace(video, task=new[video.task]) for video in corpus.videos),
        validation=frozenset(VideoKey(new[key.task], key.video) for key in corpus.validation),
        annotations=moved(corpus.annotations),
        windows=moved(corpus.windows),
    )


def _write_features(
    features: FeatureRows, ids: list[str], folder: Path, rate: float, advance: Callable[[], None]
) -> dict[str, int]:
    """T of every video whose rows were written, a video at a time."""
    lengths = {}
    for video_id in ids:
        if video_id in features:
            rows = features.rows(video_id) if rate == 1 else pool_to_seconds(features.rows(video_id), rate)
            write_rows(folder / f"{video_id}.npy", rows)
            lengths[video_id] = len(rows)
        advance()
    return lengths


def _write_own(corpus: Corpus, folder: Path) -> None:
    """corpus.toml, videos.csv, lengths, annotations and windows; validation videos have no place there."""
    write_corpus_toml(folder / "corpus.toml", corpus.tasks)
    write_text(folder / "videos.csv", videos_text(corpus.videos))
    write_text(folder / "video_seconds.csv", "".join(f"{video},{seconds}\n" for video, seconds in sorted(corpus.seconds.items())))
    for video in corpus.videos:
        if video.key in corpus.annotations:
            write_step_intervals(folder / "annotations" / f"{video.key}.csv", corpus.annotations[video.key])
        if video.key in corpus.windows:
            write_step_intervals(folder / "constraints" / f"{video.key}.csv", corpus.windows[video.key])
