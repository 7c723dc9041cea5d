"""Localizations as files for editors, players and annotation tools. Times are in seconds; frames only where a format requires them."""

from crosstask.export.export_folder import FormatFiles, write_exported
from crosstask.export.localized_video import LocalizedVideo, localized_videos, videos_of_run
from crosstask.export.table import FORMATS, export_run, exported_files, format_names, left_out, n_exported_files

__all__ = [
    "FORMATS",
    "FormatFiles",
    "LocalizedVideo",
    "export_run",
    "exported_files",
    "format_names",
    "left_out",
    "localized_videos",
    "n_exported_files",
    "videos_of_run",
    "write_exported",
]
