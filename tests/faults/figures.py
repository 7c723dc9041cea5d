"""Measurements of the fault tests, collected in a file by `make faults`."""

import fcntl
import json
import os
from pathlib import Path


def record(name: str, figures: dict[str, object]) -> None:
    """Add figures to the JSON file named by CROSSTASK_FAULT_FIGURES, if that variable is set."""
    path = os.environ.get("CROSSTASK_FAULT_FIGURES")
    if path:
        with Path(path).open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # tests run in parallel
            file.seek(0)
            kept = json.loads(file.read() or "{}")
            file.truncate(0)
            file.write(json.dumps({**kept, name: figures}, indent=2, sort_keys=True) + "\n")


def verb_table(figures: dict[str, dict[str, object]], kind: str) -> str:
    """The Markdown table of one kind of figures ('kills' or 'failing disk') by verb, for `docs/reliability.md`.

    >>> print(verb_table({"kills: pack": {"kills": 2, "resumed": 1}}, "kills"))
    | verb | kills | resumed |
    |---|---|---|
    | pack | 2 | 1 |
    """
    rows = {name.partition(": ")[2]: values for name, values in sorted(figures.items()) if name.startswith(f"{kind}: ")}
    columns = list(dict.fromkeys(column for values in rows.values() for column in values))
    head = ["verb", *(column.replace("_", " ") for column in columns)]
    lines = [head, ["---"] * len(head), *([verb, *(str(values.get(c, "")) for c in columns)] for verb, values in rows.items())]
    return "\n".join(f"| {' | '.join(line)} |" if line[0] != "---" else f"|{'|'.join(line)}|" for line in lines)
