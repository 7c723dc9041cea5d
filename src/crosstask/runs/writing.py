"""Writing a run folder. `run.json` is written last: a folder without it is incomplete."""

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.records import InputError, Localization, Narration, StepInterval, VideoKey
from crosstask.runs.folder import open_run
from crosstask.runs.record import FORMAT, Run, RunVideo, refuse_outside, scores_path, transcript_path
from crosstask.storage import write_bytes, write_json

_LINE_WORDS = 8  # about one line of subtitles


def write_run(
    folder: Path,
    run: Run,
    localizations: Mapping[str, Sequence[Localization]],
    scores: Iterable[tuple[str, VideoKey, npt.NDArray[np.floating]]] = (),
    transcripts: Mapping[VideoKey, Narration] | None = None,
) -> Path:
    """Write scores (T, K) by (method, video), transcripts, localizations by method, then `run.json`; returns the folder.

    Transcripts that are given replace all of the run that is there: subtitles may be gone since.
    """
    for method, key, values in scores:
        write_bytes(scores_path(folder, method, key), _npy_bytes(np.asarray(values, dtype=np.float16)))
    if transcripts is not None:
        for key in sorted({video.key for video in (*run.videos, *_videos_of_run(folder))} - transcripts.keys()):
            refuse_outside(folder, folder / "transcripts")
            transcript_path(folder, key).unlink(missing_ok=True)
    for key, narration in (transcripts or {}).items():
        write_json(transcript_path(folder, key), {"format": FORMAT, "lines": transcript_lines(narration)})
    write_localizations(folder, localizations)
    write_json(folder / "run.json", _to_json(run))
    return folder


def _videos_of_run(folder: Path) -> tuple[RunVideo, ...]:
    """The videos of the run that is in a folder; none where it is damaged or there is none."""
    try:
        return open_run(folder).run.videos
    except InputError:
        return ()


def write_localizations(folder: Path, localizations: Mapping[str, Iterable[Localization]]) -> Path:
    """Write `localizations.json`; returns its path."""
    methods = {method: [localization.to_json() for localization in items] for method, items in localizations.items()}
    return write_json(folder / "localizations.json", {"format": FORMAT, "methods": methods})


def transcript_lines(narration: Narration) -> list[list[Any]]:
    """`[start_s, end_s, text]` of each cue; narrations without cues are divided into lines of `_LINE_WORDS` words."""
    words = narration.words
    if narration.cues:
        return [[cue.start_s, cue.end_s, narration.text_of(cue)] for cue in narration.cues]
    lines = [words[i : i + _LINE_WORDS] for i in range(0, len(words), _LINE_WORDS)]
    return [[line[0].start_s, line[-1].end_s, " ".join(word.text for word in line)] for line in lines]


def _npy_bytes(values: npt.NDArray[np.float16]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(values), allow_pickle=False)
    return buffer.getvalue()


def _to_json(run: Run) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "title": run.title,
        "kind": run.kind,
        "command": run.command,
        "seed": run.seed,
        "synthetic": run.synthetic,
        "version": run.version,
        "tasks": {
            t.id: {"title": t.title, "steps": list(t.steps), "primary": t.primary, "url": t.url} for t in run.tasks.values()
        },
        "videos": [_video_to_json(video) for video in run.videos],
        "methods": list(run.methods),
        "results": dict(run.results),
        "losses": {method: list(losses) for method, losses in run.losses.items()},
        "settings": dict(run.settings),
        "notes": list(run.notes),
    }


def _video_to_json(video: RunVideo) -> dict[str, Any]:
    return {
        "task": video.task,
        "video": video.id,
        "n_segments": video.n_segments,
        "media": video.media,
        "truth": _intervals_to_json(video.truth),
        "windows": _intervals_to_json(video.windows),
        "content": video.content,
    }


def _intervals_to_json(intervals: tuple[StepInterval, ...] | None) -> list[list[float]] | None:
    """Triples [step counted from 0, start_s, end_s], or None."""
    return None if intervals is None else [[s.step, s.interval.start_s, s.interval.end_s] for s in intervals]
