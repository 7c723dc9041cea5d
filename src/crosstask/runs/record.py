"""The description of a run: tasks, videos with truth and windows, methods and their results. It has no date: the same run has the same bytes."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crosstask.records import InputError, StepInterval, Task, VideoKey, refuse_escaping_id
from crosstask.storage import paths_in

FORMAT = 1  # version of run.json and localizations.json
FOLDERS = ("scores", "transcripts", "figures", "frames", "before_learning", "jobs")  # which commands write in a run folder
_WITH_LABELS = ("annotations", "exports")  # likewise, but what lies there may be of a person


@dataclass(frozen=True)
class RunVideo:
    """A video of a run: number of segments, media file (absolute, or relative to the run folder), annotation, windows and digest of the file if known."""

    task: str
    id: str
    n_segments: int
    media: str | None = None
    truth: tuple[StepInterval, ...] | None = None
    windows: tuple[StepInterval, ...] | None = None
    content: str | None = None  # digest of the media file: labels are of this content

    def __post_init__(self) -> None:
        """Raise an error for a task or video id that cannot be part of a file name."""
        refuse_escaping_id(self.task, "task")
        refuse_escaping_id(self.id, "video")

    @property
    def key(self) -> VideoKey:
        """Its (task, video) key."""
        return VideoKey(self.task, self.id)


@dataclass(frozen=True)
class Run:
    """The description of a run, `run.json`. The first method is the main one."""

    title: str
    kind: str  # demo, run, train or experiment
    command: str
    seed: int
    synthetic: bool
    tasks: Mapping[str, Task]
    videos: tuple[RunVideo, ...]
    methods: tuple[str, ...]
    results: Mapping[str, Any] = field(default_factory=dict)  # method -> the JSON of `evaluate`
    losses: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    version: str = ""

    def __post_init__(self) -> None:
        """Raise an error for a name that cannot be part of a file name, a video of an unknown task, or two videos whose files would be one."""
        for task in self.tasks:
            refuse_escaping_id(task, "task")
        for method in self.methods:
            refuse_escaping_id(method, "method")
        for video in self.videos:
            if video.task not in self.tasks:
                raise InputError(f"video {video.id} belongs to the unknown task '{video.task}'")
        names = Counter(str(video.key) for video in self.videos)
        if twice := [name for name, count in names.items() if count > 1]:
            raise InputError(f"two videos have the name {twice[0]}; expected one each, as it names their files")


def scores_path(folder: Path, method: str, key: VideoKey) -> Path:
    """The path of the scores of a video in a run folder; InputError for names that would lead elsewhere."""
    refuse_escaping_id(method, "method")
    refuse_escaping_id(str(key), "video")
    return folder / "scores" / method / f"{key}.npy"


def inside(folder: Path, path: Path) -> bool:
    """True if a path lies in a folder after resolving links."""
    return path.resolve().is_relative_to(folder.resolve())


def refuse_outside(folder: Path, path: Path) -> Path:
    """The path itself, or an error if it lies outside the folder after resolving links."""
    if not inside(folder, path):
        raise InputError(f"{path.name}: leads out of the run folder; expected a plain file or folder in {folder.name}")
    return path


def refuse_links_out(folder: Path) -> None:
    """An error where a folder of a run is a link that leads out of it: files would be written and removed there."""
    for place in (folder / name for name in (*FOLDERS, *_WITH_LABELS)):
        refuse_outside(folder, place)
        for inner in paths_in(place):
            if inner.is_symlink() and inner.is_dir():
                refuse_outside(folder, inner)


def transcript_path(folder: Path, key: VideoKey) -> Path:
    """The path of the transcript of a video in a run folder; InputError for names that would lead elsewhere."""
    refuse_escaping_id(str(key), "video")
    return folder / "transcripts" / f"{key}.json"
