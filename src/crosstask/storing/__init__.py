"""Bytes to disk, whole or not at all; one writer at a time."""

from crosstask.storing.arrays import NotAnArray, digest_of, map_array, read_header
from crosstask.storing.atomic import replace_file, stable_json, write_bytes, write_json, write_text
from crosstask.storing.locks import alone_after_waiting, alone_or_refused
from crosstask.storing.places import derived_folder, existing_derived
from crosstask.storing.scratch import scratch_rows

__all__ = [
    "NotAnArray",
    "alone_after_waiting",
    "alone_or_refused",
    "derived_folder",
    "digest_of",
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
