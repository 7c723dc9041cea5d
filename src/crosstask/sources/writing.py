"""Any corpus to files: the published layout, or a `corpus.toml` with what belongs to it. Features are pooled to whole seconds on the way."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from crosstask.features import write_rows
from crosstask.features.pooling import pool_to_seconds
from crosstask.records import Corpus, FeatureRows, InputError
from crosstask.sources.corpus_toml import write_corpus_toml
from crosstask.sources.release import videos_text, write_release, write_step_intervals
from crosstask.sources.subtitles.writing import write_webvtt
from crosstask.storing import write_text

LAYOUTS = ("release", "corpus.toml")


def write_corpus(
    corpus: Corpus, folder: Path, layout: str, rate: float = 1.0, advance: Callable[[], None] = lambda: None
) -> dict[str, int]:
    """How many videos, annotations, windows, subtitles and features were written; `rate` is rows a second of the features."""
    if layout not in LAYOUTS:
        raise InputError(f"--to {layout}: expected release or corpus.toml")
    ids = sorted({video.id for video in corpus.videos})
    features = folder / ("crosstask_features" if layout == "release" else "features")
    subtitles = folder / "crosstask_subtitles" if layout == "release" else folder / ".crosstask" / "subtitles"
    lengths = _write_features(corpus.features, ids, features, rate, advance)
    recipe = corpus.feature_recipe if rate == 1 else f"{corpus.feature_recipe}; {rate:g} rows a second, mean over whole seconds"
    if lengths:
        write_text(features / "recipe.txt", recipe + "\n")
    spoken = [video_id for video_id in ids if video_id in corpus.subtitles]
    for video_id in spoken:
        write_webvtt(subtitles / f"{video_id}.vtt", corpus.subtitles[video_id])
    known = {video.id: corpus.seconds[video.id] for video in corpus.videos if video.id in corpus.seconds} | lengths
    described = replace(corpus, features=_none(), seconds=known)
    (write_release if layout == "release" else _write_own)(described, folder)
    return {
        "tasks": len(corpus.tasks),
        "videos": len(corpus.videos),
        "annotations": sum(video.key in corpus.annotations for video in corpus.videos),
        "windows": sum(video.key in corpus.windows for video in corpus.videos),
        "subtitles": len(spoken),
        "features": len(lengths),
    }


def _none() -> FeatureRows:
    from crosstask.records import NoFeatures

    return NoFeatures()


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
