"""The text side of a folder of features: `text_side.safetensors` beside the `.npy` files, with one vector for each encoded step name.

One metadata entry of sorted JSON, so that equal contents are equal bytes: {"model", "first", "width", "folder", "names"}.
"""

import json
from pathlib import Path

import numpy as np

from crosstask.records import InputError, TextSide
from crosstask.storage import write_bytes

FILE_NAME = "text_side.safetensors"


def find_text_side(folder: Path) -> TextSide | None:
    """The text side written in a folder; None where its features have none."""
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            description = json.loads((file.metadata() or {})["crosstask"])
            vectors = np.asarray(file.get_tensor("vectors"), dtype=np.float32)
        first, width, names = int(description["first"]), int(description["width"]), description["names"]
        found = TextSide(str(description["model"]), first, width, _by_name(names, vectors), str(description["folder"]))
        sound = vectors.shape == (len(names), width) and bool(np.isfinite(vectors).all()) and first >= 0
    except (SafetensorError, ValueError, OSError, KeyError, TypeError, RecursionError, OverflowError):
        sound = False
    if not sound:
        raise InputError(f"{path}: not a text side written by `crosstask extract`; delete it and extract again")
    return found


def _by_name(names: list[str], vectors: np.ndarray) -> dict[str, np.ndarray]:
    return {str(name): row for name, row in zip(names, vectors, strict=True)}


def write_text_side(folder: Path, side: TextSide) -> Path:
    """`folder/text_side.safetensors`, now holding the text side."""
    from safetensors.numpy import save

    names = sorted(side.vectors)
    vectors = np.array([side.vectors[name] for name in names], dtype=np.float32).reshape(len(names), side.width)
    description = {"model": side.model, "first": side.first, "width": side.width, "folder": side.folder, "names": names}
    text = json.dumps(description, sort_keys=True, ensure_ascii=False)
    return write_bytes(folder / FILE_NAME, save({"vectors": vectors}, {"crosstask": text}))
