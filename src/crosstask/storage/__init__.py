"""Bytes to disk, whole or not at all; one writer at a time."""

from crosstask.storage.arrays import NotAnArray, digest_of, map_array, read_header
from crosstask.storage.atomic import replace_file, stable_json, write_bytes, write_json, write_text
from crosstask.storage.locks import exclusive_after_waiting, exclusive_or_refused
from crosstask.storage.places import derived_folder, existing_derived
from crosstask.storage.scratch import scratch_rows

__all__ = [
    "NotAnArray",
    "derived_folder",
    "digest_of",
    "exclusive_after_waiting",
    "exclusive_or_refused",
    "existing_derived",
    "map_array",
    "read_header",
    "replace_file",
    "scratch_rows",
    "stable_json",
    "write_bytes",
    "write_json",
    "write_text",
]
