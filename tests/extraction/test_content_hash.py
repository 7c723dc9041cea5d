"""Digests of files: every byte counts, and large files are read once as long as they are the same."""

import os

import pytest

from crosstask.extraction import content_hash
from crosstask.extraction.content_hash import content_digest

MIB = 1 << 20


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CROSSTASK_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def settled(monkeypatch):
    """Files count as unchanged for long as soon as they are written."""
    monkeypatch.setattr(content_hash, "_SETTLED_S", 0.0)


def large_file(path):
    path.write_bytes(bytes(70 * MIB))
    return path


def change_a_byte(path, at):
    """Change one byte and set the time of modification back, as a tool does that keeps times."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"x")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("at", [0, 4 * MIB, 69 * MIB + 17])
def test_every_byte_of_a_large_file_counts(at, tmp_path):
    path = large_file(tmp_path / "v.mp4")
    before = content_digest(path)
    change_a_byte(path, at)
    assert content_digest(path) != before


def test_a_large_file_that_stays_the_same_is_read_once(settled, tmp_path, monkeypatch):
    path = large_file(tmp_path / "v.mp4")
    first = content_digest(path)
    with monkeypatch.context() as patch:
        patch.setattr(content_hash, "_digest", lambda path, size: pytest.fail("read again"))
        assert content_digest(path) == first
    change_a_byte(path, 4 * MIB)
    changed = content_digest(path)
    assert changed != first
    other = tmp_path / "w.mp4"
    other.write_bytes(path.read_bytes())
    assert content_digest(other) == changed


def test_a_file_that_changed_just_now_is_read_again(tmp_path):
    content_digest(large_file(tmp_path / "v.mp4"))
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_used_is_done_without(settled, tmp_path, monkeypatch):
    path = large_file(tmp_path / "v.mp4")
    expected = content_digest(path)
    for kept in (tmp_path / "cache" / "digests").iterdir():
        kept.write_text("damaged")
    assert content_digest(path) == expected
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CROSSTASK_CACHE", str(tmp_path / "file"))
    assert content_digest(path) == expected


def test_a_pipe_has_no_digest(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a plain file"):
        content_digest(tmp_path / "pipe")
