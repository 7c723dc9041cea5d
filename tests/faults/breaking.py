"""Take each safeguard out of a copy of the code, and see that its test goes red: `python -m faults.breaking [FILE]` from the folder `tests`.

A row that stays green means that the test guards nothing. FILE receives the table as JSON.
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


class Broken(NamedTuple):
    """A safeguard, the text that is it, what stands there instead, and the test that must notice."""

    safeguard: str
    file: str
    old: str
    new: str
    test: str


BREAKS = [
    Broken(
        "a file takes its name only when whole",
        "storing/atomic.py",
        "temporary, opened = _open_temporary(path)",
        'temporary, opened = path, path.open("wb")',
        "tests/storing/test_atomic.py",
    ),
    Broken("flush before rename", "storing/atomic.py", "os.fsync(file.fileno())", "pass", "tests/storing/test_atomic.py"),
    Broken(
        "no temporary name twice",
        "storing/atomic.py",
        "-{next(_numbers)}.partial",
        "-0.partial",
        "tests/storing/test_atomic.py",
    ),
    Broken(
        "leftovers of killed processes go",
        "storing/atomic.py",
        "    remove_leftovers(path.parent.absolute())\n",
        "",
        "tests/storing/test_atomic.py",
    ),
    Broken(
        "what another is writing stays",
        "storing/atomic.py",
        " and abandoned(folder / entry.name)",
        "",
        "tests/storing/test_atomic.py",
    ),
    Broken(
        "one writer at a time",
        "storing/locks.py",
        "    except BlockingIOError:\n        return False\n",
        "    except BlockingIOError:\n        return True\n",
        "tests/storing/test_locks.py",
    ),
    Broken(
        "the second training is told",
        "cli/train.py",
        "with exclusive_or_refused(out), progress",
        "with progress",
        "tests/faults/test_two_writers.py::test_the_second_training_into_one_file_is_told",
    ),
    Broken(
        "an open pack stays as it was",
        "features/pack.py",
        '(folder / "unfinished.bin").replace(folder / index["rows"])',
        '[p.write_bytes(bytes(p.stat().st_size)) for p in folder.glob("rows-*")]; (folder / "unfinished.bin").replace(folder / index["rows"])',
        "tests/features/test_pack.py",
    ),
    Broken(
        "rows of the wrong size are packed again",
        "features/pack.py",
        ".st_size == pack.n_bytes and",
        ".st_size and",
        "tests/features/test_pack.py",
    ),
    Broken(
        "a changed feature file is noticed",
        "features/pack.py",
        "== (video.source_size, video.source_mtime_ns)",
        "is not None",
        "tests/features/test_pack.py",
    ),
    Broken(
        "NaN and infinity are refused",
        "features/pack.py",
        "if not np.isfinite(packed).all():",
        "if False:",
        "tests/features/test_pack.py",
    ),
    Broken(
        "checksum of packed rows",
        "features/pack.py",
        "_checksum(self.rows(video_id)) != self.videos[video_id].crc32",
        "False",
        "tests/features/test_pack.py",
    ),
    Broken(
        "checksum of a model",
        "methods/model.py",
        'description.get("digest", digest_of(arrays)) != digest_of(arrays)',
        "False",
        "tests/methods/test_model.py",
    ),
    Broken(
        "checksum of a checkpoint",
        "methods/checkpoint.py",
        'description["digest"] != digest_of(arrays)',
        "False",
        "tests/methods/test_checkpoint.py",
    ),
    Broken(
        "a checkpoint of other data is refused",
        "methods/checkpoint.py",
        'kept.get("data") != wanted["data"]',
        "False",
        "tests/methods/test_checkpoint.py",
    ),
    Broken(
        "numbers of a checkpoint lead nowhere outside",
        "methods/checkpoint.py",
        "or not _is_sound(found, arrays, settings)",
        "",
        "tests/methods/test_checkpoint.py",
    ),
    Broken(
        "a training goes on where it was",
        "methods/checkpoint.py",
        "        return found\n",
        "        return fresh\n",
        "tests/methods/test_checkpoint.py",
    ),
    Broken(
        "no memory for a claimed size",
        "storing/arrays.py",
        "if found < expected:",
        "if False:",
        "tests/features/test_loose.py",
    ),
    Broken(
        "no endless array header",
        "storing/arrays.py",
        " or n_bytes > _LONGEST_HEADER",
        "",
        "tests/fuzz/test_nasty_files.py::test_a_claimed_header_is_not_read",
    ),
    Broken(
        "ids stay in their folder",
        "records/video.py",
        "or any(map(_unfit_for_a_name, identifier))",
        "",
        "tests/fuzz/test_nasty_files.py",
    ),
    Broken(
        "deep JSON is refused",
        "runs/folder.py",
        "except (OSError, ValueError, RecursionError):",
        "except (OSError, ValueError):",
        "tests/fuzz/test_readers.py::test_arbitrary_bytes[run]",
    ),
    Broken(
        "lies in a model file are refused",
        "methods/model.py",
        "except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:",
        "except KeyError as error:",
        "tests/fuzz/test_lies.py::test_descriptions_in_safetensors",
    ),
    Broken(
        "a broken disk is one line",
        "cli/main.py",
        "except OSError as error:",
        "except ZeroDivisionError as error:",
        "tests/faults/test_failing_disk.py::test_a_failing_disk_is_said_in_one_line_and_costs_nothing[pack]",
    ),
    Broken(
        "training streams its rows",
        "features/pack.py",
        'return np.memmap(self.folder / self.rows_file, dtype=self.dtype, mode="r", shape=self.shape)',
        "return np.fromfile(self.folder / self.rows_file, dtype=self.dtype).reshape(self.shape)",
        "tests/faults/test_memory.py",
    ),
]


def goes_red(broken: Broken) -> str | None:
    """The first test that failed with the safeguard taken out, or None."""
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        file = source / "crosstask" / broken.file
        text = file.read_text("utf-8")
        assert broken.old in text, f"{broken.safeguard}: {broken.old!r} is no longer in {broken.file}"
        file.write_text(text.replace(broken.old, broken.new), "utf-8")
        env = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *broken.test.split()]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    failed = [line.split(" ")[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0] if failed and done.returncode == 1 else None


def main(out: Path | None) -> int:
    """Break them all; the number of safeguards that nothing guards."""
    rows = []
    for broken in BREAKS:
        red = goes_red(broken)
        print(f"{'red  ' if red else 'GREEN'}  {broken.safeguard}: {red or broken.test}", flush=True)
        rows.append({"safeguard": broken.safeguard, "file": broken.file, "instead": broken.new.strip(), "red": red})
    if out is not None:
        out.write_text(json.dumps({"command": "cd tests && python -m faults.breaking FILE", "safeguards": rows}, indent=2) + "\n")
    return sum(row["red"] is None for row in rows)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else None))
