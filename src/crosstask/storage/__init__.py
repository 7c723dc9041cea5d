"""Atomic file writes, locks, array files and checksums."""

from crosstask.storage.arrays import (
    NotAnArray,
    content_is_intact,
    digest_of,
    load_array,
    map_array,
    read_array,
    read_header,
    with_content_digest,
)
from crosstask.storage.atomic import (
    append_lines,
    flush_tree,
    followed,
    move_files,
    refuse_other_content,
    refuse_special_file,
    replace_file,
    stable_json,
    write_bytes,
    write_json,
    write_many,
    write_text,
)
from crosstask.storage.csv_text import csv_text, no_formula, number_or_text
from crosstask.storage.derived_folders import cache_folder, derived_folder, existing_derived_folder, refuse_link_out
from crosstask.storage.figures import figure_bytes, xml_text
from crosstask.storage.locks import blocking_lock, nonblocking_lock, writing_process
from crosstask.storage.reading import (
    MAX_SMALL_BYTES,
    UnreadableFile,
    file_signature,
    open_regular,
    paths_in,
    raise_if_disk_failed,
    read_bytes,
    read_text,
    require_regular,
)
from crosstask.storage.scratch import scratch_rows
from crosstask.storage.single_thread import single_thread

__all__ = [
    "MAX_SMALL_BYTES",
    "NotAnArray",
    "UnreadableFile",
    "append_lines",
    "blocking_lock",
    "cache_folder",
    "content_is_intact",
    "csv_text",
    "derived_folder",
    "digest_of",
    "existing_derived_folder",
    "figure_bytes",
    "file_signature",
    "flush_tree",
    "followed",
    "load_array",
    "map_array",
    "move_files",
    "no_formula",
    "nonblocking_lock",
    "number_or_text",
    "open_regular",
    "paths_in",
    "raise_if_disk_failed",
    "read_array",
    "read_bytes",
    "read_header",
    "read_text",
    "refuse_link_out",
    "refuse_other_content",
    "refuse_special_file",
    "replace_file",
    "require_regular",
    "scratch_rows",
    "single_thread",
    "stable_json",
    "with_content_digest",
    "write_bytes",
    "write_json",
    "write_many",
    "write_text",
    "writing_process",
    "xml_text",
]
