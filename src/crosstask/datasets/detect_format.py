"""What other sets publish, recognised by what is in the file or folder. A new set: one file beside this one, one line here."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from crosstask.datasets.activitynet import is_activitynet, read_activitynet
from crosstask.datasets.breakfast import is_breakfast, read_breakfast
from crosstask.datasets.coin import is_coin, read_coin
from crosstask.datasets.named_steps import find_annotation_file, read_json
from crosstask.datasets.niv import is_niv, read_niv
from crosstask.datasets.planning_lists import NAMES, is_planning_list, read_planning_list
from crosstask.datasets.youcook2 import is_youcook2, read_youcook2
from crosstask.records import Corpus, InputError

# Name -> (whether a JSON value is of the set, reader of the file).
JSON_SETS: Mapping[str, tuple[Callable[[Any], bool], Callable[[Path], Corpus]]] = {
    "COIN": (is_coin, read_coin),
    "YouCook2": (is_youcook2, read_youcook2),
    "ActivityNet": (is_activitynet, read_activitynet),
    "procedure planning": (is_planning_list, read_planning_list),
}
# Name -> (whether a folder is of the set, reader of the folder).
FOLDER_SETS: Mapping[str, tuple[Callable[[Path], bool], Callable[[Path], Corpus]]] = {
    "five tasks": (is_niv, read_niv),
    "Breakfast": (is_breakfast, read_breakfast),
}
_USUAL_NAMES = ("COIN.json", "youcookii_annotations_trainval.json", "activity_net.v1-3.min.json")


def read_dataset_file(path: Path) -> Corpus:
    """The corpus of a JSON file of a known set; an error names the sets otherwise."""
    value = read_json(path, f"expected the annotation of {_names(JSON_SETS)}")
    for belongs, read in JSON_SETS.values():
        if belongs(value):
            return read(path)
    raise InputError(f"{path.name}: JSON of no known set; expected the annotation of {_names(JSON_SETS)}")


def read_dataset_folder(folder: Path) -> Corpus | None:
    """The corpus of a folder of a known set, or None."""
    for belongs, read in FOLDER_SETS.values():
        if belongs(folder):
            return read(folder)
    annotation = find_annotation_file(folder, _USUAL_NAMES)
    if annotation is None or annotation.name == NAMES:
        return None
    return read_dataset_file(annotation)


def _names(sets: Mapping[str, object]) -> str:
    return ", ".join(list(sets)[:-1]) + " or " + list(sets)[-1]
