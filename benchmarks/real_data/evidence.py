"""Run every table on real data again, in order: results/*.json with command and seed, and a page of figures.

    CROSSTASK_DATA=DATA python -m benchmarks.real_data.evidence [--only NAME ..] [--list] [--work FOLDER]

A stopped run resumes: jobs that are done are read from `--work`. Minutes are of one core.
"""

import argparse
import json
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.scripts import data_folder

from crosstask.storage import write_json

ROOT = Path(__file__).parent.parent.parent
_BREAKFAST = "--split-by group --runs 10 --learning-rate 1e-3 --dropout 0.3 --initial-epochs 10 --epochs 20"
_CAPTAINCOOK = "--split-by group --runs 6 --learning-rate 1e-3 --dropout 0.3 --initial-epochs 10 --epochs 20"


@dataclass(frozen=True)
class Table:
    """A result: its name, its command with DATA and DIR as folders, and about how many minutes it takes."""

    name: str
    command: str
    minutes: float

    @property
    def needs(self) -> list[str]:
        """Corpora of the data folder that the command reads."""
        return [part.removeprefix("DATA/") for part in shlex.split(self.command) if part.startswith("DATA/")]

    @property
    def is_experiment(self) -> bool:
        """True for `crosstask experiment`, whose result is copied; a script writes its own."""
        return self.command.startswith("crosstask experiment")


def _experiment(name: str, corpus: str, options: str = "") -> str:
    return " ".join(f"crosstask experiment {name} DATA/{corpus} {options} --out DIR".split())


TABLES = (
    Table(
        "release-baselines",
        "CROSSTASK_DATA=DATA python -m benchmarks.real_data.release_baselines --out results/release-baselines.json",
        2,
    ),
    Table("captaincook-few-videos", _experiment("few-videos", "captaincook", "--names published --supervision order"), 7),
    Table(
        "captaincook-few-videos-windows", _experiment("few-videos", "captaincook", "--names published --supervision windows"), 7
    ),
    Table("captaincook-few-videos-labels", _experiment("few-videos", "captaincook", "--names published --supervision labels"), 9),
    Table(
        "captaincook-few-videos-given-names",
        _experiment("few-videos", "captaincook", "--names given --supervision order --counts 1,3,5"),
        7,
    ),
    Table(
        "captaincook-few-videos-windows-given-names",
        _experiment("few-videos", "captaincook", "--names given --supervision windows --counts 1,3,5"),
        7,
    ),
    Table(
        "captaincook-few-videos-kitchens",
        _experiment("few-videos", "captaincook", "--names published --split-by group:2 --supervision order --counts 1,3,5"),
        7,
    ),
    Table(
        "captaincook-never-trained",
        _experiment("never-trained", "captaincook", "--names published --supervision order,windows"),
        8,
    ),
    Table(
        "captaincook-never-trained-given-names",
        _experiment("never-trained", "captaincook", "--names given --supervision order,windows"),
        8,
    ),
    Table(
        "captaincook-sharing-controls", _experiment("sharing-controls", "captaincook", "--names published --supervision order"), 6
    ),
    Table(
        "breakfast-few-videos",
        _experiment("few-videos", "breakfast", "--supervision order --counts 1,3,5 --train-videos 15"),
        9,
    ),
    Table("captaincook-cross-task", _experiment("cross-task", "captaincook", f"--recipe best {_CAPTAINCOOK}"), 3),
    Table("captaincook-metrics", _experiment("metrics", "captaincook", _CAPTAINCOOK), 2),
    Table("captaincook-sharing-gain", _experiment("sharing-gain", "captaincook", _CAPTAINCOOK), 1),
    Table("captaincook-transfer", _experiment("transfer", "captaincook", _CAPTAINCOOK), 4),
    Table("captaincook-no-narration", _experiment("no-narration", "captaincook", _CAPTAINCOOK), 2),
    Table("captaincook-depth", _experiment("depth", "captaincook", _CAPTAINCOOK.replace("--runs 6", "--runs 3")), 8),
    Table("captaincook-optimiser", _experiment("optimiser", "captaincook", _CAPTAINCOOK.replace("--runs 6", "--runs 3")), 6),
    Table("crosstask-narration", _experiment("narration", "crosstask"), 6),
    Table("breakfast-cross-task", _experiment("cross-task", "breakfast", _BREAKFAST), 12),
    Table("breakfast-sharing", _experiment("sharing", "breakfast", _BREAKFAST), 4),
    Table("breakfast-no-narration", _experiment("no-narration", "breakfast", _BREAKFAST), 5),
    Table("breakfast-transfer", _experiment("transfer", "breakfast", _BREAKFAST), 10),
    Table(
        "default-method-breakfast",
        "python -m benchmarks.real_data.default_method breakfast DATA/breakfast --out results/default-method-breakfast.json",
        10,
    ),
    Table("decoders", "python -m benchmarks.real_data.decoders DATA/breakfast DATA/captaincook --out results/decoders.json", 2),
)


def run(table: Table, data: Path, work: Path) -> None:
    """Run one table and write results/NAME.json."""
    out = work / table.name
    words = [word.replace("DATA", str(data)) if word.startswith(("DATA", "CROSSTASK_DATA=")) else word for word in _words(table)]
    environment = dict(word.split("=", 1) for word in words if word.startswith("CROSSTASK_DATA="))
    words = [str(out) if word == "DIR" else word for word in words if "=" not in word]
    start = {"crosstask": [sys.executable, "-m", "crosstask.cli.main"], "python": [sys.executable]}[words[0]]
    subprocess.run([*start, *words[1:]], cwd=ROOT, env={**_environment(), **environment}, check=True, stdout=subprocess.DEVNULL)
    if table.is_experiment:
        summary = json.loads((out / "results.json").read_text("utf-8"))
        write_json(ROOT / "results" / f"{table.name}.json", {"command": table.command, **shortened(summary)})


def _words(table: Table) -> list[str]:
    return shlex.split(table.command)


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "OMP_NUM_THREADS": "1"}


def shortened(value: Any, of_task: bool = False) -> Any:
    """The same result with numbers rounded to five digits, without every try of a choice and without the runs of each task.

    >>> shortened({"tried": [1], "recall": {"runs": [0.1234567], "tasks": {"7": {"mean": 0.5, "runs": [0.5]}}}})
    {'recall': {'runs': [0.12346], 'tasks': {'7': {'mean': 0.5}}}}
    """
    if isinstance(value, dict):
        left_out = ("tried", "steps_without_positives", *(("runs",) if of_task else ()))
        return {k: shortened(v, of_task or k == "tasks") for k, v in value.items() if k not in left_out}
    if isinstance(value, list):
        return [shortened(v, of_task) for v in value]
    return round(value, 5) if isinstance(value, float) else value


def main() -> None:
    """Run the tables whose corpora are there, one after another, and say how long each took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="names of results")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "evidence", help="folder for jobs")
    parser.add_argument("--list", action="store_true", help="say what would run")
    chosen = parser.parse_args()
    tables = [table for table in TABLES if not chosen.only or table.name in chosen.only]
    if unknown := sorted(set(chosen.only or []) - {table.name for table in TABLES}):
        raise SystemExit(f"{unknown[0]}: no such table; expected {', '.join(table.name for table in TABLES)}")
    print(f"{len(tables)} tables, about {sum(table.minutes for table in tables):.0f} minutes of one core", flush=True)
    if chosen.list:
        for table in tables:
            print(f"{table.minutes:5.0f} min  {table.name}: {table.command}")
        return
    data = data_folder().resolve()
    for table in tables:
        if missing := [name for name in table.needs if not (data / name).is_dir()]:
            print(f"{table.name}: skipped, no {missing[0]} in CROSSTASK_DATA", flush=True)
            continue
        begun = time.perf_counter()
        run(table, data, chosen.work)
        print(f"{table.name}: {(time.perf_counter() - begun) / 60:.1f} minutes (about {table.minutes:.0f} expected)", flush=True)


if __name__ == "__main__":
    main()
