import errno
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from crosstask.storage import (
    UnreadableFile,
    atomic,
    refuse_other_content,
    replace_file,
    write_bytes,
    write_json,
    write_many,
    write_text,
)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_old_file_remains_until_new_one_is_complete(tmp_path):
    write_text(tmp_path / "a", "old")
    with pytest.raises(KeyError), replace_file(tmp_path / "a") as file:
        file.write(b"half of the ne")
        assert (tmp_path / "a").read_text() == "old"
        raise KeyError
    assert (tmp_path / "a").read_text() == "old" and names(tmp_path) == ["a"]


def test_concurrent_threads_leave_one_complete_file(tmp_path):
    texts = [bytes([65 + i]) * 50_000 for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: write_bytes(tmp_path / "a", text), texts * 5))
    assert (tmp_path / "a").read_bytes() in texts and names(tmp_path) == ["a"]


def test_temporary_file_of_a_killed_process_is_removed_by_the_next_write(tmp_path):
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom crosstask.storage import replace_file\n"
        "with replace_file(Path(sys.argv[1])) as file:\n    file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path / "a")], check=False).returncode < 0
    (leftover,) = names(tmp_path)
    assert leftover.endswith(".partial")
    write_text(tmp_path / "b", "whole")
    assert names(tmp_path) == ["b"]


def test_temporary_file_in_use_is_kept(tmp_path):
    with replace_file(tmp_path / "a") as file:
        file.write(b"more")
        atomic.remove_stale_temporaries.cache_clear()
        write_text(tmp_path / "b", "whole")
        assert len(names(tmp_path)) == 2
    assert names(tmp_path) == ["a", "b"] and (tmp_path / "a").read_bytes() == b"more"


def test_user_files_with_similar_names_are_kept(tmp_path):
    users_files = [".notes.partial", "a.12-1.partial", ".bashrc"]
    for name in users_files:
        (tmp_path / name).write_text("mine")
    write_text(tmp_path / "b", "whole")
    assert names(tmp_path) == sorted([*users_files, "b"])


def test_long_unicode_names_can_be_written(tmp_path):
    for name in ("ü" * 120, "x" * 250, "料" * 80):
        assert write_text(tmp_path / name, "whole").read_text() == "whole"


def test_error_names_the_final_file(tmp_path):
    (tmp_path / "taken" / "inside").mkdir(parents=True)
    with pytest.raises(OSError) as caught:
        write_text(tmp_path / "taken", "x")
    assert caught.value.filename == str(tmp_path / "taken") and names(tmp_path) == ["taken"]


@pytest.mark.parametrize("kind", ["fifo", "socket"])
def test_a_pipe_socket_or_device_is_never_replaced(kind, tmp_path, monkeypatch):
    """`--out /dev/null` as root put a file in the place of the device; tried with a FIFO and a socket, as devices belong to the machine."""
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    path = tmp_path / "special"
    if kind == "fifo":
        os.mkfifo(path)
    else:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("special")
    before = path.lstat()
    for write in (lambda: write_text(path, "x"), lambda: list(write_many([(path, b"x")]))):
        with pytest.raises(UnreadableFile, match="a pipe or device"):
            write()
    assert path.lstat() == before and [entry.name for entry in tmp_path.iterdir()] == ["special"]


def test_a_link_to_a_pipe_is_replaced_and_the_pipe_left_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    write_text(tmp_path / "link", "x")
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "link").read_text() == "x"


def test_nan_in_json_is_rejected(tmp_path):
    with pytest.raises(ValueError):
        write_json(tmp_path / "a", {"x": float("nan")})
    assert names(tmp_path) == []


def test_data_is_flushed_before_the_rename(tmp_path, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: (done.append("flush"), fsync(descriptor)))
    monkeypatch.setattr(os, "replace", lambda *paths: (done.append("rename"), replace(*paths)))
    write_text(tmp_path / "a", "x")
    assert done == ["flush", "rename", "flush"]


TWO_WRITERS = """
import os, subprocess, sys
from pathlib import Path
os.getpid = lambda: 7  # as in two containers
from crosstask.storage import replace_file
letter, path = sys.argv[1].encode(), Path(sys.argv[2])
with replace_file(path) as file:
    file.write(letter * 100_000)
    file.flush()
    if letter == b"a":
        subprocess.run([sys.executable, *sys.orig_argv[1:-2], "b", sys.argv[2]], check=True)
        assert path.read_bytes() == b"b" * 200_000
    file.write(letter * 100_000)
"""


def test_two_writers_with_the_same_process_id_never_share_a_temporary_file(tmp_path):
    subprocess.run([sys.executable, "-c", TWO_WRITERS, "a", str(tmp_path / "f")], check=True, timeout=300)
    assert (tmp_path / "f").read_bytes() == b"a" * 200_000 and names(tmp_path) == ["f"]


def test_an_existing_file_is_never_opened_as_temporary(tmp_path, monkeypatch):
    tokens = iter(["0" * 16, "1" * 16])
    monkeypatch.setattr(atomic.secrets, "token_hex", lambda n: next(tokens))
    atomic.remove_stale_temporaries(tmp_path.absolute())  # done once per folder, so the next file is kept
    taken = tmp_path / f".a.{'0' * 16}.partial"
    taken.write_text("of another host")
    assert write_text(tmp_path / "a", "mine").read_text() == "mine"
    assert taken.read_text() == "of another host"


def test_stale_temporary_file_of_version_0_1_is_removed(tmp_path):
    (tmp_path / ".a.12-1.partial").write_text("half")
    write_text(tmp_path / "b", "whole")
    assert names(tmp_path) == ["b"]


def test_many_files_are_each_whole_and_flushed(tmp_path, monkeypatch):
    flushed = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (flushed.append(descriptor), real(descriptor)))
    files = [(tmp_path / f"folder{i % 2}" / f"{i}.txt", str(i).encode()) for i in range(2 * atomic._BATCH + 3)]
    assert list(write_many(iter(files))) == [path for path, _ in files]
    assert all(path.read_bytes() == data for path, data in files)
    assert len(flushed) >= len(files), "every file is flushed before it is renamed"
    assert not list(tmp_path.rglob("*.partial"))


def test_of_many_files_a_failing_one_leaves_no_half_files(tmp_path):
    (tmp_path / "taken").mkdir()
    files = [(tmp_path / "a", b"whole"), (tmp_path / "taken", b"a folder is there"), (tmp_path / "b", b"whole")]
    with pytest.raises(OSError, match="taken"):
        list(write_many(files))
    assert not list(tmp_path.glob(".*partial"))
    assert all(path.read_bytes() == b"whole" for path in (tmp_path / "a", tmp_path / "b") if path.exists())


def test_a_file_that_cannot_be_created_is_named_as_the_user_named_it(tmp_path, monkeypatch):
    def full(path, flags, *mode):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(OSError, match="No space left") as raised:
        write_bytes(tmp_path / "f", b"x")
    assert raised.value.filename == str(tmp_path / "f")


def test_a_model_does_not_overwrite_a_file_that_is_none(tmp_path):
    mark, weights = b'"crosstask":', b'{"__metadata__":{"format":"pt"},"clip.weight":{}}'
    (tmp_path / "film.mp4").write_bytes(b"\0\0\0\x20ftypisom")
    for name in ("clip", "clip.safetensors"):  # weights of another program
        (tmp_path / name).write_bytes(len(weights).to_bytes(8, "little") + weights)
    for name in ("film.mp4", "clip", "clip.safetensors"):
        with pytest.raises(UnreadableFile, match="of another kind, which would be overwritten"):
            refuse_other_content(tmp_path / name, mark)
    model = b'{"__metadata__":{"crosstask":"{}"}}'
    (tmp_path / "model").write_bytes(len(model).to_bytes(8, "little") + model)
    (tmp_path / "damaged.safetensors").write_bytes(b"?")
    (tmp_path / "empty").touch()
    for name in ("model", "damaged.safetensors", "empty", "absent", "."):
        refuse_other_content(tmp_path / name, mark)
