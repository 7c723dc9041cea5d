"""What was counted and measured, kept where `make faults` asks for it."""

import json
import os
from pathlib import Path


def record(name: str, figures: dict[str, object]) -> None:
    """Add figures to the file that CROSSTASK_FAULT_FIGURES names; do nothing where it names none."""
    path = os.environ.get("CROSSTASK_FAULT_FIGURES")
    if path:
        kept = json.loads(Path(path).read_text()) if Path(path).exists() else {}
        Path(path).write_text(json.dumps({**kept, name: figures}, indent=2, sort_keys=True) + "\n")
