"""The feature spec of a folder: one line beside the `.npy` files that says how their columns were made.

`feature_spec.txt` is written; `recipe.txt`, its name in earlier versions, is still read.
"""

from pathlib import Path

from crosstask.records import InputError
from crosstask.storage import MAX_SMALL_BYTES, raise_if_disk_failed, read_text, write_text

FILE_NAME = "feature_spec.txt"
OLD_FILE_NAME = "recipe.txt"
UNKNOWN = "unknown"
_MAX_CHARACTERS = 500  # ours: a spec is one line; anything longer is not one


def find_feature_spec(folder: Path) -> str | None:
    """The feature spec written in a folder, or None."""
    path = next((folder / name for name in (FILE_NAME, OLD_FILE_NAME) if (folder / name).is_file()), None)
    if path is None:
        return None
    try:
        return read_text(path, max_bytes=MAX_SMALL_BYTES).strip()[:_MAX_CHARACTERS]
    except OSError as error:
        raise_if_disk_failed(error)
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; save it as UTF-8") from None


def read_feature_spec(folder: Path) -> str:
    """The feature spec written in a folder; 'unknown' without one."""
    found = find_feature_spec(folder)
    return UNKNOWN if found is None else found


def refuse_other_spec(trained: str, given: str) -> None:
    """An error for features of another spec than those that a model was trained on, where both are known."""
    if UNKNOWN not in (trained, given) and trained != given:
        raise InputError(f"features are '{given}' but the model was trained on '{trained}'; extract with --features {trained}")


def write_feature_spec(folder: Path, spec: str) -> Path:
    """`folder/feature_spec.txt`, now holding the spec; a `recipe.txt` of an earlier version is removed."""
    path = write_text(folder / FILE_NAME, f"{spec}\n")
    (folder / OLD_FILE_NAME).unlink(missing_ok=True)
    return path
