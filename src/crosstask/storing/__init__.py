"""Bytes to disk, whole or not at all; one writer at a time."""

from crosstask.storing.atomic import replace_file, stable_json, write_bytes, write_json, write_text
from crosstask.storing.locks import alone_after_waiting, alone_or_refused
from crosstask.storing.places import derived_folder, existing_derived

__all__ = [
    "alone_after_waiting",
    "alone_or_refused",
    "derived_folder",
    "existing_derived",
    "replace_file",
    "stable_json",
    "write_bytes",
    "write_json",
    "write_text",
]
