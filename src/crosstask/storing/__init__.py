"""Bytes to disk, whole or not at all."""

from crosstask.storing.atomic import replace_file, stable_json, write_bytes, write_json, write_text
from crosstask.storing.places import derived_folder, existing_derived

__all__ = ["derived_folder", "existing_derived", "replace_file", "stable_json", "write_bytes", "write_json", "write_text"]
