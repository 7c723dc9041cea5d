"""Localizations to the files that editors, players and annotation tools read. Seconds are the truth; frames only where a format wants them."""

from crosstask.export.parses import Parse, parses_of
from crosstask.export.table import FORMATS, export_run

__all__ = ["FORMATS", "Parse", "export_run", "parses_of"]
