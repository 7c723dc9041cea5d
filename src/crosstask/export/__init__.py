"""Localizations as files for editors, players and annotation tools. Times are in seconds; frames only where a format requires them."""

from crosstask.export.localized_video import LocalizedVideo, localized_videos
from crosstask.export.table import FORMATS, export_run

__all__ = ["FORMATS", "LocalizedVideo", "export_run", "localized_videos"]
