"""Problems of a corpus whose files can all be read: annotations beyond the end of the video, windows that admit no ordered labels ..."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from crosstask.datasets.corpus_toml import VIDEO_EXTENSIONS, task_folders
from crosstask.datasets.problems import problems_of_files
from crosstask.inference import NoOrderedAnswer, decode_once
from crosstask.methods.training_videos import allowed_segments
from crosstask.pipeline.media import files_by_id, media_of
from crosstask.pipeline.preflight import features_of_another_rate, refuse_outdated_features
from crosstask.pipeline.unmatched_files import unmatched_files
from crosstask.records import (
    TOLERATED_OVERSHOOT_S,
    Corpus,
    InputError,
    Problem,
    Progress,
    Video,
    VideoKey,
    no_progress,
    refuse_unfit_key,
)
from crosstask.storage import paths_in


def problems_of_folder(folder: Path, progress: Progress = no_progress) -> list[Problem]:
    """Problems of the files of a corpus, and of what they say together, sorted by file: the list of `validate`."""
    corpus, problems = problems_of_files(folder, progress)
    if corpus is not None:
        problems += problems_of_corpus(corpus, progress)
    return sorted(set(problems), key=lambda p: (p.file, p.line or 0, p.message))


def problems_of_corpus(corpus: Corpus, progress: Progress = no_progress) -> list[Problem]:
    """Problems that appear only when parts of the corpus are compared."""
    problems: list[Problem] = []
    with progress("comparing annotations with videos", len(corpus.videos)) as advance:
        for video in corpus.videos:
            problems += _of_length(corpus, video)
            advance()
    problems += _of_subtitles(corpus)
    problems += _of_unmatched_files(corpus)
    try:
        refuse_outdated_features(corpus)
    except InputError as error:
        file, _, reason = str(error).partition(": ")
        problems.append(Problem(file, None, reason))
    problems += [Problem(file, None, reason, "warning") for file, reason in features_of_another_rate(corpus).items()]
    return problems


def _of_unmatched_files(corpus: Corpus) -> Iterable[Problem]:
    """Files under `videos/` that are not used, as `run` names them; tasks without videos have a line of their own."""
    if corpus.folder is None or not (corpus.folder / "corpus.toml").is_file():
        return
    for line in unmatched_files(corpus.folder, corpus.tasks):
        place, _, rest = line.partition(": ")
        if place.startswith("videos/"):
            yield Problem(place, None, rest, "warning")
    for task, folder in task_folders(corpus.folder, corpus.tasks).items():
        for path in paths_in(folder):
            if path.suffix.lower() in VIDEO_EXTENSIONS and (reason := _why_unfit(task, path.stem)):
                yield Problem(f"videos/{task}", None, f"{reason}; this file is left out", "warning")
    for reason in sorted(set(files_by_id(media_of(corpus))[1].values())):
        yield Problem("videos", None, f"{reason}; both are left out", "warning")


def _why_unfit(task: str, video: str) -> str:
    try:
        refuse_unfit_key(VideoKey(task, video))
    except InputError as error:
        return str(error)
    return ""


def _of_length(corpus: Corpus, video: Video) -> Iterable[Problem]:
    try:
        n_segments = corpus.n_segments(video)
    except InputError:
        return
    task = corpus.task_of(video)
    if n_segments < len(task.steps):
        yield Problem(
            str(video.key), None, f"{n_segments} segments cannot hold the {len(task.steps)} steps of '{task.title}'", "warning"
        )
        return
    try:
        yield from _of_annotation(corpus, video, n_segments)
        yield from _of_windows(corpus, video, n_segments)
    except InputError:
        return  # an unreadable file: already listed by its own line


def _of_annotation(corpus: Corpus, video: Video, n_segments: int) -> Iterable[Problem]:
    if video.key not in corpus.annotations:
        return
    file = f"annotations/{video.key}.csv"
    for line, annotated in enumerate(corpus.annotations[video.key], start=1):
        over = annotated.interval.end_s - n_segments
        if over > TOLERATED_OVERSHOOT_S:
            yield Problem(file, line, f"ends at {annotated.interval.end_s:g} s; the video has {n_segments} seconds")
        elif over > 0:
            yield Problem(file, line, f"ends {over:.2f} s after the video: clipped", "warning")
        if not annotated.interval.length_s:
            yield Problem(file, line, f"starts and ends at {annotated.interval.end_s:g} s: no moment lies in it", "warning")


def _of_windows(corpus: Corpus, video: Video, n_segments: int) -> Iterable[Problem]:
    if video.key not in corpus.windows:
        return
    file = f"constraints/{video.key}.csv"
    windows = corpus.windows[video.key]
    for line, window in enumerate(windows, start=1):
        if not window.interval.segments(n_segments):
            yield Problem(
                file, line, f"starts at {window.interval.start_s:g} s, after the video's {n_segments} seconds", "warning"
            )
    allowed = allowed_segments(windows, n_segments, len(corpus.task_of(video).steps))
    try:
        decode_once(np.where(allowed, 0.0, np.inf))
    except NoOrderedAnswer:
        yield Problem(file, None, "no ordered answer lies inside these windows: trains with order alone", "warning")


def _of_subtitles(corpus: Corpus) -> Iterable[Problem]:
    """Subtitles that cannot be read, or whose language is not that of the step names."""
    from crosstask.narration.language import why_languages_differ

    tasks = {video.id: corpus.task_of(video) for video in corpus.videos if video.id in corpus.subtitles}
    for video_id, task in sorted(tasks.items()):
        try:
            narration = corpus.subtitles[video_id]
        except InputError as error:
            yield Problem(f"subtitles/{video_id}", None, str(error))
            continue
        if reason := why_languages_differ(narration, task):
            yield Problem(f"subtitles/{video_id}", None, reason, "warning")
