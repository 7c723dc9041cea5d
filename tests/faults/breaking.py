"""Mutation tests: remove each safeguard from a copy of the code and check that a test fails.

Run `python -m faults.breaking [FILE]` in the folder `tests`. A safeguard whose test still passes is printed as GREEN. FILE receives the table as
JSON.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent


class Mutation(NamedTuple):
    """A safeguard, its code in a file, the code that replaces it, and the test that must fail."""

    safeguard: str
    file: str
    old: str
    new: str
    test: str


MUTATIONS = [
    Mutation(
        "a file gets its final name only when complete",
        "storage/atomic.py",
        "temporary, opened = _open_temporary(path)",
        'temporary, opened = path, path.open("wb")',
        "tests/storage/test_atomic.py",
    ),
    Mutation("flush before rename", "storage/atomic.py", "os.fsync(file.fileno())", "pass", "tests/storage/test_atomic.py"),
    Mutation(
        "temporary names are unique",
        "storage/atomic.py",
        ".{secrets.token_hex(8)}.partial",
        ".{os.getpid()}-0.partial",
        "tests/storage/test_atomic.py",
    ),
    Mutation(
        "temporary files of killed processes are removed",
        "storage/atomic.py",
        "    remove_stale_temporaries(path.parent.absolute())\n",
        "",
        "tests/storage/test_atomic.py",
    ),
    Mutation(
        "temporary files in use are kept",
        "storage/atomic.py",
        "unlink_if_unlocked(folder / entry.name)",
        "(folder / entry.name).unlink()",
        "tests/storage/test_atomic.py",
    ),
    Mutation(
        "only one process writes at a time",
        "storage/locks.py",
        "    except BlockingIOError:\n        return False\n",
        "    except BlockingIOError:\n        return True\n",
        "tests/storage/test_locks.py",
    ),
    Mutation(
        "a second training to one file is an error",
        "cli/train.py",
        "with nonblocking_lock(out), progress",
        "with progress",
        "tests/faults/test_two_writers.py::test_second_training_to_one_file_is_an_error",
    ),
    Mutation(
        "an open pack keeps its rows",
        "features/pack.py",
        '(folder / "unfinished.bin").replace(folder / index["rows"])',
        '[p.write_bytes(bytes(p.stat().st_size)) for p in folder.glob("rows-*")]; (folder / "unfinished.bin").replace(folder / index["rows"])',
        "tests/features/test_pack.py",
    ),
    Mutation(
        "a rows file of the wrong size is packed again",
        "features/pack.py",
        ".st_size == pack.n_bytes and",
        ".st_size and",
        "tests/features/test_pack.py",
    ),
    Mutation(
        "a changed feature file is detected",
        "features/pack.py",
        "== (video.source_size, video.source_mtime_ns)",
        "is not None",
        "tests/features/test_pack.py",
    ),
    Mutation(
        "NaN and infinity are rejected",
        "features/pack.py",
        "if not all_finite(packed):",
        "if False:",
        "tests/features/test_pack.py",
    ),
    Mutation(
        "checksum of packed rows",
        "features/pack.py",
        "_checksum(self.rows(video_id)) != self.videos[video_id].crc32",
        "False",
        "tests/features/test_pack.py",
    ),
    Mutation(
        "checksum of a model",
        "model/file.py",
        "if not content_is_intact(description, arrays):",
        "if False:",
        "tests/model/test_model.py",
    ),
    Mutation(
        "checksum of a checkpoint",
        "methods/zhukov19_checkpoint.py",
        'not ("content_digest" in description and content_is_intact(description, arrays))',
        "False",
        "tests/methods/test_zhukov19_checkpoint.py",
    ),
    Mutation(
        "a checkpoint of other data is rejected",
        "methods/zhukov19_checkpoint.py",
        'kept.get("data") != wanted["data"]',
        "False",
        "tests/methods/test_zhukov19_checkpoint.py",
    ),
    Mutation(
        "indices in a checkpoint are within bounds",
        "methods/zhukov19_checkpoint.py",
        "or not _is_sound(found, arrays, settings)",
        "",
        "tests/methods/test_zhukov19_checkpoint.py",
    ),
    Mutation(
        "training resumes from its checkpoint",
        "methods/zhukov19_checkpoint.py",
        "        return found\n",
        "        return fresh\n",
        "tests/methods/test_zhukov19_checkpoint.py",
    ),
    Mutation(
        "no memory is allocated for a claimed size",
        "storage/arrays.py",
        "if found < expected:",
        "if False:",
        "tests/features/test_npy_files.py",
    ),
    Mutation(
        "an oversized array header is not read",
        "storage/arrays.py",
        " or n_bytes > _MAX_HEADER_BYTES",
        "",
        "tests/fuzz/test_hostile_files.py::test_oversized_header_is_not_read",
    ),
    Mutation(
        "ids cannot escape their folder",
        "records/video.py",
        "or any(map(_unfit_for_a_name, identifier))",
        "",
        "tests/fuzz/test_hostile_files.py",
    ),
    Mutation(
        "deeply nested JSON is rejected",
        "runs/folder.py",
        "except (OSError, ValueError, RecursionError):",
        "except (OSError, ValueError):",
        "tests/fuzz/test_readers.py::test_arbitrary_bytes[run]",
    ),
    Mutation(
        "inconsistent values in a model file are rejected",
        "model/file.py",
        "except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:",
        "except KeyError as error:",
        "tests/fuzz/test_inconsistent_files.py::test_descriptions_in_safetensors",
    ),
    Mutation(
        "a disk error is reported in one line",
        "cli/main.py",
        "except OSError as error:",
        "except ZeroDivisionError as error:",
        "tests/faults/test_failing_disk.py::test_disk_errors_are_reported_and_recoverable[pack]",
    ),
    Mutation(
        "training streams its features",
        "features/pack.py",
        'return np.memmap(self.folder / self.rows_file, dtype=self.dtype, mode="r", shape=self.shape)',
        "return np.fromfile(self.folder / self.rows_file, dtype=self.dtype).reshape(self.shape)",
        "tests/faults/test_memory.py",
    ),
]


def first_failing_test(mutation: Mutation) -> str | None:
    """The first test that fails without the safeguard, or None."""
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        file = source / "crosstask" / mutation.file
        text = file.read_text("utf-8")
        assert mutation.old in text, f"{mutation.safeguard}: {mutation.old!r} is no longer in {mutation.file}"
        file.write_text(text.replace(mutation.old, mutation.new), "utf-8")
        env = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *mutation.test.split()]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    failed = [line.split(" ")[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0] if failed and done.returncode == 1 else None


def main(out: Path | None) -> int:
    """Apply all mutations; returns the number that no test detects."""
    rows = []
    for mutation in MUTATIONS:
        failing = first_failing_test(mutation)
        print(f"{'failing  ' if failing else 'GREEN'}  {mutation.safeguard}: {failing or mutation.test}", flush=True)
        rows.append({"safeguard": mutation.safeguard, "file": mutation.file, "instead": mutation.new.strip(), "red": failing})
    if out is not None:
        out.write_text(json.dumps({"command": "cd tests && python -m faults.breaking FILE", "safeguards": rows}, indent=2) + "\n")
    return sum(row["red"] is None for row in rows)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else None))
