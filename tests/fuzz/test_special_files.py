"""A FIFO in place of any file that is read, or a disk that fails: an InputError or a clear OSError at once, never a hang or a wrong value."""

import errno
import os
from pathlib import Path

import pytest

from crosstask.datasets import open_corpus
from crosstask.records import InputError
from crosstask.storage import UnreadableFile
from fuzz.hanging import no_hang
from fuzz.readers import READERS
from tiny import write_tiny

COPIED_FIRST = ("scores", "word vector pair", "localizations", "transcript", "niv")


@pytest.mark.parametrize("name", READERS)
def test_a_fifo_in_place_of_a_file_is_an_error(name, tmp_path):
    reader, path = READERS[name], tmp_path / READERS[name].name
    if name in COPIED_FIRST:
        pytest.skip("the reader of this test copies the file first")
    reader.valid(path)
    path.unlink()
    os.mkfifo(path)
    with no_hang():
        try:
            found = reader.read(path)
        except (InputError, UnreadableFile):
            return
    assert found is None, "a reader without an error calls the file absent"


@pytest.mark.parametrize(
    "name", ["crosstask_release/videos.csv", "crosstask_release/tasks_primary.txt", "crosstask_features/-v1_0.npy"]
)
def test_a_fifo_in_a_corpus_is_an_error(name, tmp_path):
    write_tiny(tmp_path)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with no_hang(), pytest.raises(InputError, match="pipe or device"):
        corpus = open_corpus(tmp_path)
        corpus.features.stack(sorted({video.id for video in corpus.videos}))


@pytest.mark.parametrize("name", READERS)
def test_a_disk_that_fails_is_never_taken_for_an_absent_file(name, tmp_path, monkeypatch):
    reader, path = READERS[name], tmp_path / READERS[name].name
    if name in COPIED_FIRST:
        pytest.skip("the reader of this test copies the file first")
    reader.valid(path)
    ordinary, failed = os.open, []

    def failing(opened, flags, *arguments, **options):
        if Path(os.fsdecode(opened)) == path and not flags & (os.O_WRONLY | os.O_RDWR):
            failed.append(opened)
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(opened))
        return ordinary(opened, flags, *arguments, **options)

    monkeypatch.setattr(os, "open", failing)
    try:
        found = reader.read(path)
    except (InputError, OSError):
        return
    assert not failed, f"the reader returned {found!r} although the file could not be read"
