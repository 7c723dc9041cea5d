"""Tables of the page on reliability from `results/faults.json`, and that file from what `make faults` and `make fuzz` measured.

python docs/fault_tables.py faults.json
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from detailed_tables import table
from tables import RESULTS, recorded

COMMAND = "make faults; make fuzz"
NOTE = "Synthetic tiny corpus, on shared, busy cores: times are bounds, not speed claims. A long run is killed a tenth as often as the other verbs."
VERBS = {"train-best": "train, `hmm`", "train-paper": "train, `zhukov19`", "run": "run, default features"}


def by_verb(kind: str) -> dict[str, dict[str, Any]]:
    """Verb -> figures of one kind: 'kills' or 'failing disk'."""
    named = {name.partition(": ")[2]: values for name, values in recorded("faults").items() if name.startswith(f"{kind}: ")}
    return {VERBS.get(verb, verb): values for verb, values in sorted(named.items())}


def kills_table() -> str:
    """What SIGKILL left, by verb."""
    columns = {
        "kills": "kills",
        "left something unfinished": "kills_that_left_something_unfinished",
        "killed commands that then finished": "killed_commands_that_then_finished",
        "undisturbed commands": "undisturbed_commands",
        "resumed mid-training": "resumed",
    }
    rows = [[verb, *(f"{values[key]:,}" for key in columns.values())] for verb, values in by_verb("kills").items()]
    return table(["verb", *columns], rows)


def failing_table() -> str:
    """Failing calls by verb, then by operation."""
    columns = {
        "calls of these kinds": "calls",
        "made to fail": "faults",
        "one line, exit code 2": "exit code 2",
        "finished": "exit code 0",
    }
    figures = by_verb("failing disk")
    rows = [[verb, *(f"{values.get(key, 0):,}" for key in columns.values())] for verb, values in figures.items()]
    kinds: Counter[str] = Counter()
    for values in figures.values():
        kinds.update(values["faults_by_operation"])
    listed = ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items()))
    return f"{table(['verb', *columns], rows)}\n\nFailed calls by operation: {listed}."


def measured_list() -> str:
    """Determinism, memory, the viewer under load, and fuzzing."""
    figures = recorded("faults")
    lines = [*_same_digests(figures["determinism"]), *_memory_and_load(figures["memory"], figures["viewer under load"])]
    if fuzz := figures.get("fuzzing"):
        lines.append(
            f"- Long fuzzing: {fuzz['examples']:,} examples for each of {fuzz['tests']} tests ({fuzz['examples_in_viewer']:,} with the viewer), "
            f"{fuzz['failed']} failed, {fuzz['seconds'] / 60:.0f} minutes."
        )
    return "\n".join([*lines, f"- How these figures were made: {figures['note']}"])


def _same_digests(settings: Mapping[str, Mapping[str, str]]) -> list[str]:
    first, second = settings.values()
    outcome = "had the same digests" if first == second else "had different digests"
    return [f"- Determinism: {len(first)} outputs {outcome} with {' as with '.join(settings)}."]


def _memory_and_load(memory: Mapping[str, float], load: Mapping[str, Any]) -> list[str]:
    training = recorded("training-memory")
    peak, files, mib = training["peak_anonymous_mb"], load["open_files"], load["anonymous_mb"]
    return [
        f"- Memory: `zhukov19` packed, trained on and evaluated {memory['corpus_mb']:.0f} MiB with room for {memory['allowance_mb']} MiB. At "
        f"{training['videos']} videos with {training['rows_mb']:,} MiB of float16 rows (synthetic; `results/training-memory.json`), the largest "
        f"anonymous memory of `crosstask train` was {peak['paper']} MB with `zhukov19` and {peak['best']} MB with `hmm`, whose projected features "
        "spill to an unlinked temporary file above 256 MiB.",
        f"- Viewer under load, {load['clients']} clients on 2 busy cores for {load['seconds']:.0f} s: {load['answers']:,} answers, "
        f"{load['answers_a_second']:.0f} a second, median {load['median_ms']:.0f} ms, 99 % within {load['p99_ms']:.0f} ms, open files {files[0]} "
        f"before and {files[1]} after, anonymous memory {mib[0]} and {mib[1]} MiB.",
    ]


def merge(measured: dict[str, Any]) -> None:
    """Put what was measured in place of the same names in `results/faults.json`."""
    path = RESULTS / "faults.json"
    merged = recorded("faults") | measured | {"command": COMMAND, "note": NOTE}
    path.write_text(json.dumps(merged, indent=2, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    merge(json.loads(Path(sys.argv[1]).read_text("utf-8")))
