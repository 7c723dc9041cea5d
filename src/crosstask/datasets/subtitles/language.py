"""The language of subtitles, from the file name and from frequent words."""

import re
from pathlib import Path

from crosstask.records import Narration

_MIN_WORDS = 20  # ours: fewer words are not enough to decide
_MIN_ENGLISH_SHARE = 0.1  # ours
# Frequent in English speech and rare in related languages ('in', 'is', 'we', 'so' are Dutch or German too).
_ENGLISH = frozenset(
    re.findall(
        r"\S+",
        "the and you that this it it's with for are your i'm just they what these going can now of have we're you're "
        "that's don't some there gonna okay really which when would because",
    )
)
_TAG = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")


def language_in_name(path: Path) -> str | None:
    """The language tag in a name such as `VIDEO.en.vtt`, or None.

    >>> language_in_name(Path("dQw4.en-US.vtt")), language_in_name(Path("dQw4.vtt"))
    ('en-US', None)
    """
    parts = path.name.split(".")
    return parts[-2] if len(parts) > 2 and _TAG.fullmatch(parts[-2]) else None


def looks_english(narration: Narration) -> bool:
    """True if at least a tenth of the words are frequent English ones, or if there are fewer than 20 words.

    >>> from crosstask.records import Word
    >>> looks_english(Narration(tuple(Word(w, 0, 1) for w in "jetzt die Eier und die Milch in die Schale".split() * 5)))
    False
    """
    words = [word.text.lower().strip('.,!?;:"()').replace("’", "'") for word in narration.words]
    return len(words) < _MIN_WORDS or sum(word in _ENGLISH for word in words) >= _MIN_ENGLISH_SHARE * len(words)
