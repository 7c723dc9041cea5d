"""Figures of Matplotlib as bytes."""

import re
import warnings
from io import BytesIO
from typing import Any

# Fonts with Chinese, Japanese, Korean, Indian and other letters, which Matplotlib's own font does not have; used where they are installed.
_FONTS_OF_MORE_SCRIPTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "PingFang SC", "Hiragino Sans"),
    *("WenQuanYi Zen Hei", "Noto Sans Devanagari", "Noto Sans Thai", "Nirmala UI", "Arial Unicode MS"),
)
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what XML 1.0 cannot hold, not even escaped


def xml_text(text: str) -> str:
    """The text with a replacement mark for every character that XML, and so SVG, cannot hold."""
    return _NOT_XML.sub("\ufffd", text)


def figure_bytes(figure: Any, ending: str, dpi: int, metadata: dict[str, None], **settings: Any) -> bytes:
    """A Matplotlib figure in the format `ending`; a dollar sign in a text is itself, since names of tasks and steps are not formulas."""
    from matplotlib import font_manager, rc_context
    from matplotlib.text import Text

    installed = set(font_manager.get_font_names())
    families = ["sans-serif", *(name for name in _FONTS_OF_MORE_SCRIPTS if name in installed)]
    for text in figure.findobj(Text):
        text.set_parse_math(False)
        text.set_fontfamily(families)
        text.set_text(xml_text(text.get_text()))
    buffer = BytesIO()
    rc: Any = {"text.parse_math": False, "font.family": families, **settings}
    with rc_context(rc), warnings.catch_warnings():  # rc: for texts that are made while the figure is laid out
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # drawn as boxes; in SVG the browser has its own fonts
        figure.savefig(buffer, format=ending, dpi=dpi, metadata=metadata)
    return buffer.getvalue()
