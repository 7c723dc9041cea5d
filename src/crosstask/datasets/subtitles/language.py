"""The language that the name of a subtitle file states."""

import re
from pathlib import Path

_TAG = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")


def language_in_name(path: Path) -> str | None:
    """The language tag in a name such as `VIDEO.en.vtt`, or None.

    >>> language_in_name(Path("dQw4.en-US.vtt")), language_in_name(Path("dQw4.vtt"))
    ('en-US', None)
    """
    parts = path.name.split(".")
    return parts[-2] if len(parts) > 2 and _TAG.fullmatch(parts[-2]) else None
