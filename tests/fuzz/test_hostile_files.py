"""Hostile files: ids that escape their folder, false sizes, headers with code."""

import io
import json
import os
import resource
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest

from cli.running import crosstask, refused
from crosstask.datasets import open_corpus, read_tasks, read_videos
from crosstask.features import npy_files
from crosstask.records import InputError, refuse_escaping_id
from fuzz.readers import READERS
from tiny import TASKS, write_tiny

ESCAPING = [
    "../x",
    "/etc/passwd",
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    "a\0b",
    "a\nb",
    "a\x1bb",
    "a\u2028b",
    "x\u202efdp",
    "\ud800",
    "x" * 201,
]
PLAIN = ["-YtYoSwdUf8", "a b", "カレー", "..a", "a／b", "a.", "Ⅷ", "a:b", "é", "e\u0301"]


@pytest.mark.parametrize("name", ESCAPING)
def test_escaping_ids_are_rejected(name):
    with pytest.raises(InputError, match="cannot name a file"):
        refuse_escaping_id(name, "video")


@pytest.mark.parametrize("name", PLAIN)
def test_unusual_ids_stay_inside_their_folder(name, tmp_path):
    assert refuse_escaping_id(name, "video") == name
    assert (tmp_path / f"{name}.npy").resolve().parent == tmp_path.resolve()


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a\0b"])
def test_escaping_id_in_a_video_list_is_rejected(name, tmp_path):
    (tmp_path / "videos.csv").write_text(f"1,{name},http://x\n")
    with pytest.raises(InputError):
        read_videos(tmp_path / "videos.csv", TASKS)


@pytest.mark.parametrize("method", ["../../x", "/etc"])
def test_run_cannot_refer_outside_its_folder(method, tmp_path):
    reader = READERS["run"]
    reader.valid(tmp_path / "run.json")
    described = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps(described | {"methods": [method]}))
    with pytest.raises(InputError, match="cannot name a file"):
        reader.read(tmp_path / "run.json")


def test_huge_step_lists_are_read_or_rejected_quickly(tmp_path):
    steps = ",".join(f"step {i}" for i in range(200_000))
    (tmp_path / "tasks.txt").write_text(f"1\nLong\nu\n200000\n{steps}\n\n")
    assert len(read_tasks(tmp_path / "tasks.txt", True)[0].steps) == 200_000
    (tmp_path / "tasks.txt").write_text("1\nShort\nu\n" + "9" * 10_000 + "\na,b\n\n")
    with pytest.raises(InputError, match="announces"):
        read_tasks(tmp_path / "tasks.txt", True)


def test_video_with_more_steps_than_seconds_is_an_input_error(tmp_path):
    write_tiny(tmp_path)
    release = tmp_path / "crosstask_release"
    steps = ",".join(f"word{i} thing{i}" for i in range(3000))
    (release / "tasks_primary.txt").write_text(f"1\nLong\nu\n3000\n{steps}\n\n")
    for name in ("videos.csv", "videos_val.csv"):
        (release / name).write_text("1,-v1_0,u\n1,-v1_1,u\n")
    done = crosstask("train", tmp_path, "--out", tmp_path / "m.safetensors")
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_circular_links_are_handled(tmp_path):
    write_tiny(tmp_path)
    (tmp_path / "crosstask_features" / "again").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "crosstask_features" / "loop.npy").symlink_to(tmp_path / "crosstask_features" / "loop.npy")
    opened = open_corpus(tmp_path)
    assert len(opened.videos) == 12
    with pytest.raises(InputError, match="cannot be read"):
        opened.features.rows("loop")
    (tmp_path / "crosstask_subtitles").symlink_to("crosstask_subtitles", target_is_directory=True)
    with pytest.raises(InputError, match="crosstask_subtitles: a link to crosstask_subtitles, which is not there"):
        open_corpus(tmp_path)


def test_links_are_followed(tmp_path):
    write_tiny(tmp_path / "data")
    (tmp_path / "data" / "crosstask_features").rename(tmp_path / "elsewhere")
    (tmp_path / "data" / "crosstask_features").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert open_corpus(tmp_path / "data").features.rows("-v1_0").shape == (20, 6)


def header(text):
    out = io.BytesIO()
    out.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
    return out.getvalue()


CRAFTED = {
    "runs": header(b"{'descr': '<f4', 'fortran_order': False, 'shape': (__import__('os').system('touch owned'), 2)}\n"),
    "deep": header(b"-" * 9000 + b"1\n"),
    "sum": header(b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"1+" * 4000 + b"1, 2)}\n"),
    "claims": header(b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 3200)}\n"),
    "negative": header(b"{'descr': '<f4', 'fortran_order': False, 'shape': (-5, -3)}\n"),
    "endless": header(b"{'descr': '<f4', 'fortran_order': False, 'shape': (1" + b"0" * 4000 + b", 2)}\n"),
    "objects": header(b"{'descr': '|O', 'fortran_order': False, 'shape': (1, 1)}\n") + b"cos\nsystem\n(S'touch owned'\ntR.",
    "fields": header(b"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 1)}\n") + b"\0" * 4,
    "pickle": b"cos\nsystem\n(S'touch owned'\ntR.",
    "zip": b"PK\x03\x04" + b"\0" * 60,
}


@pytest.mark.parametrize("name", CRAFTED)
@pytest.mark.parametrize("kind", ["features", "scores", "word vector pair"])
def test_crafted_arrays_are_rejected_and_never_executed(kind, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / READERS[kind].name
    path.write_bytes(CRAFTED[name])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError):
        READERS[kind].read(path)
    assert not (tmp_path / "owned").exists()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


@pytest.mark.parametrize("reader", READERS)
def test_no_reader_executes_a_pickle(reader, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    import pickle

    class Runs:
        def __reduce__(self):
            return os.system, ("touch owned",)

    path = tmp_path / READERS[reader].name
    READERS[reader].valid(path)
    path.write_bytes(pickle.dumps(Runs()))
    with suppress(InputError):
        READERS[reader].read(path)
    assert not (tmp_path / "owned").exists()


def test_claimed_size_allocates_no_memory(tmp_path):
    """With limited memory, a header that claims 12 TB is an InputError, also in the verb."""
    write_tiny(tmp_path)
    (tmp_path / "crosstask_features" / "-v1_0.npy").write_bytes(CRAFTED["claims"])
    assert "truncated" in refused("pack", tmp_path)
    code = (
        "import resource, sys\nfrom pathlib import Path\nfrom crosstask.features import read_rows\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))\nread_rows(Path(sys.argv[1]))"
    )
    path = tmp_path / "crosstask_features" / "-v1_0.npy"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert "InputError" in done.stderr and "MemoryError" not in done.stderr, done.stderr


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nonfinite_features_are_rejected_by_the_verbs(value, tmp_path):
    corpus = write_tiny(tmp_path)
    rows = corpus.features.rows("-v1_0").copy()
    rows[3, 2] = value
    np.save(tmp_path / "crosstask_features" / "-v1_0.npy", rows)
    assert "-v1_0.npy: row 3, column 2 is NaN or infinite" in refused("train", tmp_path, "--out", tmp_path / "m.safetensors")


def test_oversized_header_is_not_read(tmp_path, monkeypatch):
    """A header that claims two gigabytes is rejected from its first twelve bytes."""
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{'descr': '<f4'")
    asked = []

    class Watched(io.FileIO):
        def read(self, n=-1):
            asked.append(n)
            return super().read(n)

    monkeypatch.setattr(npy_files, "open_regular", Watched)
    with pytest.raises(InputError, match="not a NumPy array"):
        READERS["features"].read(path)
    assert asked == [12]
