"""Reading and writing corpora: the published layout, `corpus.toml` folders, other data sets, subtitles."""

from pathlib import Path

from crosstask.datasets.corpus_toml import read_corpus_toml
from crosstask.datasets.release import read_release, read_tasks, read_videos, write_release
from crosstask.datasets.step_intervals import read_step_intervals, write_step_intervals
from crosstask.datasets.window_files import write_windows
from crosstask.records import Corpus, InputError, path_argument
from crosstask.storage import paths_in

__all__ = [
    "open_corpus",
    "read_corpus_toml",
    "read_release",
    "read_step_intervals",
    "read_tasks",
    "read_videos",
    "refuse_broken_links",
    "write_release",
    "write_step_intervals",
    "write_windows",
]

_PARTS = (  # of a corpus, besides those that begin with crosstask_
    *("videos", "features", "constraints", "annotations", ".crosstask"),
    *("corpus.toml", "videos.csv", "video_seconds.csv", "published.json"),
)


def open_corpus(folder: str | Path) -> Corpus:
    """The corpus in a folder of the published layout, with a `corpus.toml`, or of another data set; also from that data set's JSON file."""
    from crosstask.datasets.detect_format import read_dataset_file, read_dataset_folder

    path = path_argument(folder, "the folder of a corpus")
    if path.suffix == ".json" and path.is_file():
        return read_dataset_file(path)
    if path.is_file():
        raise InputError(
            f'{path}: a file; expected the folder of a corpus. Steps in one video: `crosstask localize VIDEO --steps "pour milk, whisk egg"`'
        )
    refuse_broken_links(path)
    if not path.is_dir():
        raise InputError(f"{path}: no such folder; expected a corpus (crosstask_release/ or corpus.toml inside)")
    if (path / "corpus.toml").exists():
        return read_corpus_toml(path)
    if path.name == "crosstask_release" and (path / "tasks_primary.txt").exists():
        path = path.parent
    if (path / "crosstask_release").is_dir():
        return read_release(path)
    corpus = read_dataset_folder(path)
    if corpus is None:
        raise InputError(
            f"{path}: not a corpus; expected crosstask_release/ or corpus.toml in it (`crosstask init {path}` writes one)"
        )
    return corpus


def refuse_broken_links(folder: Path) -> None:
    """An error where a part of a corpus is a link to what is not there, as on a disk that is not mounted: it would count as a missing part."""
    parts = [folder, *(path for path in paths_in(folder) if path.name in _PARTS or path.name.startswith("crosstask_"))]
    for path in (*parts, *paths_in(folder / "crosstask_release"), *paths_in(folder / "videos")):
        if path.is_symlink() and not path.exists():
            raise InputError(f"{path}: a link to {path.readlink()}, which is not there; mount that disk, or remove the link")
