"""Other published data sets, detected by the contents of the file or folder. A new data set is one file in this package and one line here."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from crosstask.datasets.activitynet import is_activitynet, read_activitynet
from crosstask.datasets.breakfast import is_breakfast, read_breakfast
from crosstask.datasets.captaincook import ANNOTATION_FILE, is_captaincook, read_captaincook
from crosstask.datasets.coin import is_coin, read_coin
from crosstask.datasets.niv import is_niv, read_niv
from crosstask.datasets.planning_lists import ACTION_NAMES_FILE, is_planning_list, read_planning_list
from crosstask.datasets.text_files import read_json
from crosstask.datasets.youcook2 import is_youcook2, read_youcook2
from crosstask.records import Corpus, InputError

# Name -> (test of the JSON value, reader of the file).
JSON_DATASETS: Mapping[str, tuple[Callable[[Any], bool], Callable[[Path], Corpus]]] = {
    "COIN": (is_coin, read_coin),
    "YouCook2": (is_youcook2, read_youcook2),
    "ActivityNet": (is_activitynet, read_activitynet),
    "CaptainCook4D": (is_captaincook, read_captaincook),
    "procedure planning": (is_planning_list, read_planning_list),
}
# Name -> (test of the folder, reader of the folder).
FOLDER_DATASETS: Mapping[str, tuple[Callable[[Path], bool], Callable[[Path], Corpus]]] = {
    "five tasks": (is_niv, read_niv),
    "Breakfast": (is_breakfast, read_breakfast),
}
_PUBLISHED_NAMES = (ANNOTATION_FILE, "COIN.json", "youcookii_annotations_trainval.json", "activity_net.v1-3.min.json")


def read_dataset_file(path: Path) -> Corpus:
    """The corpus of a JSON file of a known data set; otherwise an error that lists the known ones."""
    value = read_json(path, f"expected the annotation of {_listing(JSON_DATASETS)}")
    for matches, read in JSON_DATASETS.values():
        if matches(value):
            return read(path)
    raise InputError(f"{path.name}: not the JSON of a known data set; expected the annotation of {_listing(JSON_DATASETS)}")


def read_dataset_folder(folder: Path) -> Corpus | None:
    """The corpus of a folder of a known data set, or None."""
    for matches, read in FOLDER_DATASETS.values():
        if matches(folder):
            return read(folder)
    annotation = _find_annotation_file(folder)
    if annotation is None or annotation.name == ACTION_NAMES_FILE:
        return None
    return read_dataset_file(annotation)


def _find_annotation_file(folder: Path) -> Path | None:
    """The JSON file of a folder with a published name, or else its only JSON file; CaptainCook4D has its file in a subfolder."""
    files = [*sorted(folder.glob("*.json")), *sorted(folder.glob(f"*/{ANNOTATION_FILE}"))]
    named = [path for path in files if path.name in _PUBLISHED_NAMES]
    return named[0] if named else files[0] if len(files) == 1 else None


def _listing(sets: Mapping[str, object]) -> str:
    return ", ".join(list(sets)[:-1]) + " or " + list(sets)[-1]
