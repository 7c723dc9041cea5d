"""A folder is made one of runs before a run is written to it: nothing is overwritten that is not of the same kind of run and the same videos.

A hidden file in the folder says which verb writes there, so that what an interrupted command left is known from what somebody else put there.
"""

import json
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path
from typing import Any

from crosstask.records import InputError
from crosstask.runs.folder import RunFolder, open_run
from crosstask.runs.labels import LABELS_FILE
from crosstask.runs.record import FOLDERS, refuse_links_out
from crosstask.storage import paths_in, read_text, stable_json, write_text

_MARK = ".crosstask-run"
_CORPUS_FILES = ("corpus.toml", "crosstask_release", "tasks_primary.txt")  # one of them makes a folder a corpus
_FOLDERS_OF_A_CORPUS = (
    *("videos", "features", "constraints", "annotations", ".crosstask"),
    *("crosstask_release", "crosstask_features", "crosstask_constraints", "crosstask_subtitles"),
)
_FILES_OF_A_RUN = (
    *("run.json", "model.safetensors", "model.safetensors.checkpoint", "localizations.json", "report.html"),
    *("results.json", "results.csv", "table.tex", "figure.png", "figure.svg"),
    *FOLDERS,
)
EXPERIMENT_KIND = "experiment"  # of the run folder of an experiment


def refuse_place_of_run(folder: Path) -> None:
    """An error where no run can be: a file, or a folder with which a corpus would change its meaning, such as CORPUS/features; CORPUS/run is fine."""
    if folder.is_symlink() and not folder.exists():
        raise InputError(f"{folder}: a link to {folder.readlink()}, which is not there; mount that disk, or remove the link")
    file = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    if file.exists() and not file.is_dir():
        raise InputError(f"{file}: a file; expected a folder for the run, new or old: --out FOLDER")
    place = folder.resolve()
    if place.parent == place:
        raise InputError(f"--out {folder}: the root of a disk; name a folder")
    for corpus in place.parents:
        part = place.relative_to(corpus).parts[0]
        if part in _FOLDERS_OF_A_CORPUS and any((corpus / name).exists() for name in _CORPUS_FILES):
            raise InputError(f"--out {folder}: in the folder '{part}' of a corpus, which is not for runs; name another folder")


def claim_run_folder(
    folder: Path,
    kind: str,
    media: Iterable[Path] = (),
    ids: Iterable[str] = (),
    contents: Callable[[], Iterable[str | None]] = tuple,
) -> None:
    """Make a folder one of runs; an error where a run of these videos would overwrite something else.

    That is a corpus, files that do not belong to a run, the run of another verb, or one of other videos. A run is of other videos if most of its
    video files are not among these. Where none of them is there, such as those of a moved collection, the contents are compared, and without
    these the ids; videos without files are compared by their ids.
    """
    refuse_place_of_run(folder)
    if any((folder / name).exists() for name in _CORPUS_FILES):
        raise InputError(f"--out {folder}: a corpus, whose annotations would be taken for labels of the run; name another folder")
    refuse_links_out(folder)
    there = _run_in(folder)
    no_labels = there is None and not (folder / LABELS_FILE).exists()
    if no_labels and any(path.suffix == ".csv" for path in paths_in(folder / "annotations")):
        raise InputError(f"--out {folder}: it holds annotations that are not labels of a run; name another folder")
    if taken := next((name for name in _FILES_OF_A_RUN if (folder / name).exists()), None):
        _refuse_other_kind(folder, taken, kind, _kind_in(folder) if there is None else there.run.kind)
    if there is not None and (other := _other_video(there, {path.resolve() for path in media}, set(ids), contents)) is not None:
        raise InputError(
            f"--out {folder}: it holds the steps found in other videos, such as {other}, which would be overwritten; name another folder"
        )
    if not (folder / _MARK).exists() or _kind_in(folder) != kind:
        write_text(folder / _MARK, stable_json({"kind": kind}))


def _run_in(folder: Path) -> RunFolder | None:
    try:
        return open_run(folder)
    except InputError:  # none, or a damaged one
        return None


def _kind_in(folder: Path) -> str | None:
    """The verb that writes to a folder, by its hidden file or, for an experiment of earlier versions, its results; None if it is not known."""
    for name, key in ((_MARK, "kind"), ("results.json", "experiment")):
        try:
            value = json.loads(read_text(folder / name))[key]
        except (FileNotFoundError, UnicodeDecodeError, ValueError, KeyError, TypeError, RecursionError):
            continue
        return str(value) if name == _MARK else EXPERIMENT_KIND
    return None


def _refuse_other_kind(folder: Path, taken: str, kind: str, kind_there: str | None) -> None:
    if kind_there is None:
        raise InputError(
            f"--out {folder}: its {taken} does not belong to a run and would be overwritten or removed; name another folder"
        )
    if kind_there != kind:
        raise InputError(
            f"--out {folder}: it holds the run of `crosstask {kind_there}`, which would be overwritten; name another folder"
        )


def _other_video(there: RunFolder, media: set[Path], ids: set[str], contents: Callable[[], Iterable[str | None]]) -> str | None:
    """The name of a video of a run most of whose files, contents or ids are none of these; None where at least half of them are."""
    videos = there.run.videos
    if media and any(video.media is not None for video in videos):
        if shown := {path.resolve(): path.name for path in map(there.media, videos) if path is not None}:
            return _first_of_most(shown, media)
        if there.contents:
            return _first_of_most({content: key.video for key, content in there.contents.items()}, set(contents()))
    return _first_of_most({video.id: video.id for video in videos}, ids) if ids else None


def _first_of_most(names: Mapping[Any, str], known: Container[Any]) -> str | None:
    """The first name whose key is not known, if most of them are not."""
    others = [name for key, name in names.items() if key not in known]
    return others[0] if 2 * len(others) > len(names) else None
