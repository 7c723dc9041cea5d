"""Frames of a few videos of a run, kept in its folder for the report."""

from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path

from crosstask.extraction.thumbnails import encode_jpeg, thumbnails
from crosstask.records import InputError, VideoKey
from crosstask.report.strips import Strip, picture_path, seconds_shown
from crosstask.runs import RunFolder, RunVideo, open_run
from crosstask.storage import write_bytes, write_json

MOST_STRIPS = 6
MOST_UNSEEN = 2


def write_strips(out: Path, unseen: Mapping[str, str], tested: frozenset[VideoKey] | None = None) -> list[Strip]:
    """The strips now in `out/frames`; `unseen` names the tasks left out of training and the method that shows each."""
    run = open_run(out)
    wanted = choose_strips(run, unseen, tested)
    videos = {video.key: video for video in run.run.videos}
    written = {strip: _write_strip(run, strip, videos[strip.key]) for strip in wanted}
    kept = [strip for strip, pictures in written.items() if pictures]
    _drop_others(out / "frames", {path for pictures in written.values() for path in pictures})
    if kept or (out / "frames").is_dir():
        listed = [{"method": s.method, "task": s.key.task, "video": s.key.video, "unseen": s.unseen} for s in kept]
        write_json(out / "frames" / "strips.json", {"format": 1, "strips": listed})
    return kept


def choose_strips(run: RunFolder, unseen: Mapping[str, str], tested: frozenset[VideoKey] | None = None) -> list[Strip]:
    """At most six videos whose files exist: up to two of tasks left out of training, then tasks in turn; annotated, untrained ones first."""
    main = run.run.methods[0]
    by_task: dict[str, list[RunVideo]] = {}
    for video in sorted(run.run.videos, key=lambda v: (tested is not None and v.key not in tested, v.truth is None, v.key)):
        if run.media(video) is not None:
            by_task.setdefault(video.task, []).append(video)
    queues = [videos for _, videos in sorted(by_task.items())]
    left_out = [Strip(unseen[v.task], v.key, True) for v in (videos[0] for videos in queues) if v.task in unseen][:MOST_UNSEEN]
    others = [Strip(main, v.key, unseen.get(v.task) == main) for turn in zip_longest(*queues) for v in turn if v is not None]
    chosen: dict[VideoKey, Strip] = {}
    for strip in [*left_out, *others]:
        if len(chosen) < MOST_STRIPS and strip.key in run.localizations.get(strip.method, {}):
            chosen.setdefault(strip.key, strip)
    return list(chosen.values())


def _write_strip(run: RunFolder, strip: Strip, video: RunVideo) -> list[Path]:
    """The frames of the video that are in the run folder now; none of a video that has become unreadable."""
    path = run.media(video)
    assert path is not None
    seconds = seconds_shown(run.localizations[strip.method][strip.key], video.truth)
    try:
        pictures = thumbnails(path, seconds)
    except InputError:
        return []
    return [
        write_bytes(picture_path(run.folder, video.key, second), encode_jpeg(picture)) for second, picture in pictures.items()
    ]


def _drop_others(folder: Path, kept: set[Path]) -> None:
    """Frames of an earlier run of the same folder go."""
    for path in sorted(folder.glob("*/*.jpg")):
        if path not in kept and not path.parent.is_symlink():
            path.unlink()
