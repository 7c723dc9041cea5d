"""Figures of Matplotlib as bytes."""

from io import BytesIO
from typing import Any


def figure_bytes(figure: Any, ending: str, dpi: int, metadata: dict[str, None], **settings: Any) -> bytes:
    """A Matplotlib figure in the format `ending`; a dollar sign in a text is itself, since names of tasks and steps are not formulas."""
    from matplotlib import rc_context
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_parse_math(False)
    buffer = BytesIO()
    rc: Any = {"text.parse_math": False, **settings}
    with rc_context(rc):  # for texts that are made while the figure is laid out
        figure.savefig(buffer, format=ending, dpi=dpi, metadata=metadata)
    return buffer.getvalue()
