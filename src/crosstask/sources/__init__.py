"""Files to records and back."""

from pathlib import Path

from crosstask.records import Corpus, InputError
from crosstask.sources.corpus_toml import read_corpus_toml
from crosstask.sources.release import (
    read_release,
    read_step_intervals,
    read_tasks,
    read_videos,
    write_release,
    write_step_intervals,
)

__all__ = [
    "open_corpus",
    "read_corpus_toml",
    "read_release",
    "read_step_intervals",
    "read_tasks",
    "read_videos",
    "write_release",
    "write_step_intervals",
]


def open_corpus(folder: str | Path) -> Corpus:
    """The corpus in a folder: the published layout, or a `corpus.toml` beside `videos/`."""
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"{path}: no such folder; expected a corpus (crosstask_release/ or corpus.toml inside)")
    if (path / "corpus.toml").exists():
        return read_corpus_toml(path)
    if path.name == "crosstask_release" and (path / "tasks_primary.txt").exists():
        path = path.parent
    if not (path / "crosstask_release").is_dir():
        raise InputError(
            f"{path}: not a corpus; expected crosstask_release/ or corpus.toml in it (`crosstask init {path}` writes one)"
        )
    return read_release(path)
