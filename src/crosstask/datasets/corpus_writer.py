"""Writing any corpus, in the published layout or as a `corpus.toml` folder; features are pooled to one row per second."""

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from crosstask.datasets.corpus_toml import write_corpus_toml
from crosstask.datasets.published_texts import write_published_texts
from crosstask.datasets.release import WindowFiles, read_tasks, videos_text, write_release, write_step_intervals
from crosstask.datasets.subtitles.webvtt import write_webvtt
from crosstask.features import write_feature_spec, write_rows, write_text_side
from crosstask.features.pooling import pool_to_seconds
from crosstask.records import Corpus, FeatureRows, InputError, NoFeatures, StepInterval, VideoKey
from crosstask.storage import write_text

LAYOUTS = ("release", "corpus.toml")


def write_corpus(
    corpus: Corpus, folder: Path, layout: str, rate: float = 1.0, advance: Callable[[], None] = lambda: None
) -> dict[str, int]:
    """Counts of what was written (tasks, videos, annotations, ...); `rate` is the rows per second of the corpus's features."""
    if layout not in LAYOUTS:
        raise InputError(f"--to {layout}: expected release or corpus.toml")
    corpus = replace_underscores_in_task_ids(corpus)
    _refuse_another_corpus(folder, corpus)
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


def _refuse_another_corpus(folder: Path, corpus: Corpus) -> None:
    """An error where the folder holds steps, titles, videos, annotations or windows that would be lost; a repeated conversion finds its own."""
    from crosstask.datasets import open_corpus  # imported here: that module imports the writers

    try:
        there = open_corpus(folder)
    except InputError as error:
        _refuse_unreadable_corpus(folder, error)
        return
    for task in there.tasks.values():
        if task.id not in corpus.tasks or task.steps != corpus.tasks[task.id].steps:
            raise InputError(f"{folder}: holds another corpus, with other steps of task '{task.title}'; expected a new folder")
        if task.title != corpus.tasks[task.id].title:
            raise InputError(f"{folder}: the title '{task.title}' there would be lost; expected a new folder")
    listed = {video.key for video in corpus.videos}
    if lost := [video.key for video in there.videos if video.key not in listed]:
        raise InputError(f"{folder}: holds another corpus, whose list of videos would be lost ({lost[0]}); expected a new folder")
    windows = there.windows.maps[0] if isinstance(there.windows, ChainMap) else there.windows
    of_user = {} if isinstance(windows, WindowFiles) else windows  # ours are not overwritten: they lie elsewhere
    for what, new, old in (("annotation", corpus.annotations, there.annotations), ("windows", corpus.windows, of_user)):
        for key in (video.key for video in corpus.videos if video.key in new and video.key in old):
            if _milliseconds(old[key]) != _milliseconds(new[key]):
                raise InputError(f"{folder}: what it has as {what} of {key} differs and would be lost; expected a new folder")


def _refuse_unreadable_corpus(folder: Path, error: InputError) -> None:
    """An error where lists of a corpus are there that cannot be read: a person wrote them, as those of a killed conversion are whole."""
    release = folder / "crosstask_release"
    if (release / "tasks_primary.txt").exists() and not (release / "videos.csv").exists():  # a killed conversion leaves that
        read_tasks(release / "tasks_primary.txt", primary=True)
    elif (folder / "corpus.toml").exists() or release.exists():
        raise InputError(f"{folder}: holds another corpus, which cannot be read ({error}); expected a new folder")


def _milliseconds(intervals: Iterable[StepInterval]) -> list[tuple[int, int, int]]:
    """Step, start and end of each interval, as precisely as they are written."""
    return sorted((s.step, round(1000 * s.interval.start_s), round(1000 * s.interval.end_s)) for s in intervals)


def replace_underscores_in_task_ids(corpus: Corpus) -> Corpus:
    """The same corpus with '-' for '_' in task ids, since a `corpus.toml` takes none with '_'."""
    new = {task_id: task_id.replace("_", "-") for task_id in corpus.tasks}
    if all(old == replaced for old, replaced in new.items()):
        return corpus
    if len(set(new.values())) < len(new):
        raise InputError(f"corpus '{corpus.name}': two task ids differ only in '_' and '-'; rename one of them")

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
    write_text(folder / "video_seconds.csv", "".join(f"{video},{seconds}\n" for video, seconds in sorted(corpus.seconds.items())))
    for video in corpus.videos:
        if video.key in corpus.annotations:
            write_step_intervals(folder / "annotations" / f"{video.key}.csv", corpus.annotations[video.key])
        if video.key in corpus.windows:
            write_step_intervals(folder / "constraints" / f"{video.key}.csv", corpus.windows[video.key])
