"""A narration to WebVTT, word times inside the lines, so that reading it gives the same narration."""

from pathlib import Path

from crosstask.records import Cue, Narration
from crosstask.storage import write_text


def write_webvtt(path: Path, narration: Narration, note: str = "") -> Path:
    """`path`, now holding the narration; `note` says where it comes from."""
    header = "WEBVTT\n" + (f"Language: {narration.language}\n" if narration.language else "")
    blocks = [header, *([f"NOTE {note}\n"] if note else []), *(_block(narration, cue) for cue in narration.cues)]
    return write_text(path, "\n".join(blocks))


def _block(narration: Narration, cue: Cue) -> str:
    words = narration.words[cue.first_word : cue.last_word]
    line = " ".join(f"<{format_timestamp(word.start_s)}>{_escaped(word.text)}" if i else _escaped(word.text) for i, word in enumerate(words))
    return f"{format_timestamp(cue.start_s)} --> {format_timestamp(cue.end_s)}\n{line}\n"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def format_timestamp(second: float) -> str:
    """Hours, minutes, seconds, thousandths.

    >>> format_timestamp(3725.5)
    '01:02:05.500'
    """
    thousandths = round(second * 1000)
    return f"{thousandths // 3600000:02d}:{thousandths // 60000 % 60:02d}:{thousandths // 1000 % 60:02d}.{thousandths % 1000:03d}"
