"""Tables of the page on reliability from `results/faults.json`, and that file from what `make faults` and `make fuzz` measured.

python docs/fault_tables.py faults.json
"""

import json
import sys
from collections import Counter
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
    """Memory, the viewer under load, and fuzzing."""
    figures = recorded("faults")
    memory, load, lines = figures.get("memory"), figures.get("viewer under load"), []
    if memory:
        lines.append(
            f"- Memory: {memory['corpus_mb']:.0f} MiB packed, trained on (`zhukov19`) and evaluated with room for {memory['allowance_mb']} MiB."
        )
    if load:
        lines.append(
            f"- Viewer under load, {load['clients']} clients for {load['seconds']:.0f} s: {load['answers']:,} answers, median {load['median_ms']:.0f} ms, "
            f"99 % within {load['p99_ms']:.0f} ms; open files {load['open_files'][0]} before and {load['open_files'][1]} after, "
            f"anonymous memory {load['anonymous_mb'][0]} and {load['anonymous_mb'][1]} MiB."
        )
    if fuzz := figures.get("fuzzing"):
        lines.append(
            f"- Long fuzzing: {fuzz['examples']:,} examples for each of {fuzz['tests']} tests ({fuzz['examples_in_viewer']:,} with the viewer), "
            f"{fuzz['failed']} failed, {fuzz['seconds'] / 60:.0f} minutes."
        )
    return "\n".join(lines)


def merge(measured: dict[str, Any]) -> None:
    """Put what was measured in place of the same names in `results/faults.json`."""
    path = RESULTS / "faults.json"
    merged = recorded("faults") | measured | {"command": COMMAND, "note": NOTE}
    path.write_text(json.dumps(merged, indent=2, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    merge(json.loads(Path(sys.argv[1]).read_text("utf-8")))
