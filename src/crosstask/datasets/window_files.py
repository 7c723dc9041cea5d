"""The narration windows that `narrate` and `run` make: files of step intervals, and a record of what they were made from.

They are written one after another. Readers take all of them at one moment and notice whether they were being written: a record that a
writer was interrupted lies beside them until it has finished, and `steps.json` is a new file whenever they are written.
"""

import json
import logging
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from crosstask.datasets.step_intervals import StepIntervalFiles, key_of, step_intervals_in, write_step_intervals
from crosstask.datasets.subtitle_folders import SubtitleFolders
from crosstask.datasets.text_files import read_text
from crosstask.records import InputError, Narration, StepInterval, Task, VideoKey
from crosstask.storage import file_signature, paths_in, raise_if_disk_failed, write_json, write_text
from crosstask.storage import read_text as storage_text

log = logging.getLogger(__name__)
STEPS_FILE = "steps.json"  # beside the windows: the steps of each task, which they number, and digests of the subtitles
UNFINISHED = "unfinished.json"  # beside the windows while they are written
NO_SUBTITLES = SubtitleFolders(())
_NAMED = 5  # tasks that a warning lists


@dataclass(frozen=True)
class WindowFiles(StepIntervalFiles):
    """Windows that we made, as they all were at one moment, without those of subtitles that are gone or changed since."""

    subtitles: Mapping[str, Narration] = field(default_factory=dict)
    made_from: Mapping[str, str] = field(default_factory=dict)  # TASK_VIDEO -> digest of its subtitles then, where it is known
    written: object = None  # the signature of `steps.json` when `made_from` was read

    def _usable_names(self) -> set[str]:
        return {name for name in self._texts if self._is_current(name.removesuffix(".csv"))}

    def __getitem__(self, key: VideoKey) -> tuple[StepInterval, ...]:
        """The windows of a video."""
        if key not in self:
            raise KeyError(key)
        return step_intervals_in(self._texts[self.path(key).name], self.path(key), self.tasks[key.task])

    @cached_property
    def _texts(self) -> dict[str, str]:
        """Name -> text of every file; an error where not all of them are of one `narrate`."""
        self.refuse_unfinished()
        found = {}
        for path in paths_in(self.folder):
            if path.suffix == ".csv" and path.exists():
                found[path.name] = read_text(path)
        self.refuse_unfinished()
        if file_signature(self.folder / STEPS_FILE) != self.written:
            raise InputError(
                f"{self.folder}: the windows were made again after the corpus was opened; open it again, or repeat the command"
            )
        return found

    def refuse_unfinished(self) -> None:
        """An error where windows are being written, or were not written to the end."""
        if (self.folder / UNFINISHED).exists():
            raise InputError(
                f"{self.folder}: these windows are being written, or `narrate` or `run` was interrupted while it wrote them; "
                "wait until it has ended, or repeat it"
            )

    def _is_current(self, stem: str) -> bool:
        """True unless the subtitles that a file was made from are known, and gone or changed."""
        key, made_from = key_of(stem, self.tasks), self.made_from.get(stem)
        return key is None or made_from is None or made_from == _digest(self.subtitles, key)


def _digest(subtitles: Mapping[str, Narration], key: VideoKey) -> str | None:
    return subtitles.digest(key.video) if isinstance(subtitles, SubtitleFolders) else None


def read_windows(folder: Path, tasks: Mapping[str, Task], subtitles: Mapping[str, Narration] = NO_SUBTITLES) -> WindowFiles:
    """The windows that `write_windows` wrote; those of other steps, which they number, are left out with a warning, and of other subtitles."""
    written = file_signature(folder / STEPS_FILE)
    steps, made_from = _origin_of_windows(folder)
    outdated = sorted(name for name, task in tasks.items() if steps.get(name, task.steps) != task.steps)
    if outdated:
        log.warning(
            "the windows of %s were made for other steps and are not used: `crosstask narrate` or `crosstask run` makes new ones",
            ", ".join(outdated[:_NAMED]) + (f" and {len(outdated) - _NAMED} more tasks" if len(outdated) > _NAMED else ""),
        )
    known = {name: task for name, task in tasks.items() if name not in outdated}
    return WindowFiles(folder, known, subtitles=subtitles, made_from=made_from, written=written)


def write_windows(
    folder: Path,
    tasks: Mapping[str, Task],
    windows: Mapping[VideoKey, Iterable[StepInterval]],
    subtitles: Mapping[str, Narration] = NO_SUBTITLES,
    kept: Container[VideoKey] = frozenset(),
) -> None:
    """Write windows, the steps they are for and the digests of the subtitles they are of.

    Others in the folder are removed, except those of `kept` videos whose tasks have the same steps.
    """
    steps, before = _origin_of_windows(folder)
    there = sorted(folder.glob("*.csv"))
    if there and not (folder / STEPS_FILE).is_file():
        raise InputError(
            f"{folder}: {there[0].name} would be removed, and no {STEPS_FILE} shows that `narrate` wrote it; move these files away"
        )
    digests = {str(key): digest for key in windows if (digest := _digest(subtitles, key)) is not None}
    names = {f"{key}.csv" for key in windows}
    write_text(folder / UNFINISHED, "{}\n")
    for path in there:
        key = key_of(path.stem, tasks)
        same = key is not None and steps.get(key.task, tasks[key.task].steps) == tasks[key.task].steps
        rewritten = path.name in names and before.get(path.stem) == digests.get(path.stem)
        if not same or not (rewritten or key in kept):  # windows of other steps and subtitles go before the new ones are recorded
            path.unlink(missing_ok=True)
    still = {name: digest for name, digest in before.items() if (folder / f"{name}.csv").is_file()} | digests
    numbered = {name: list(task.steps) for name, task in sorted(tasks.items())}
    write_json(folder / STEPS_FILE, {"format": 1, "tasks": numbered, "subtitles": dict(sorted(still.items()))})
    for key, intervals in sorted(windows.items()):
        write_step_intervals(folder / f"{key}.csv", intervals)
    (folder / UNFINISHED).unlink()


def _origin_of_windows(folder: Path) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Task -> the steps that the windows in a folder number, and TASK_VIDEO -> the digest of its subtitles then; empty where not recorded."""
    try:
        data = json.loads(storage_text(folder / STEPS_FILE, "utf-8"))
        steps = {name: tuple(map(str, steps)) for name, steps in data["tasks"].items()}
        return steps, {str(name): str(digest) for name, digest in data.get("subtitles", {}).items()}
    except OSError as error:
        raise_if_disk_failed(error)
        return {}, {}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{folder / STEPS_FILE}: damaged; delete {folder}, and `crosstask narrate` makes it again") from None
