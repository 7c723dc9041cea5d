"""Data flows one way: who may import whom, read from the code itself."""

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "crosstask"


class Package(NamedTuple):
    """What a package may import (packages above it in the map), and what it contains."""

    may_import: str
    contents: str


_BASE = "records storage inference learning features datasets jobs synthetic text narration methods metrics"
_UPPER = f"{_BASE} evaluation runs correction extraction model corpus_building export report viewer"
MAP = {
    "records": Package("", "frozen data types: Task, Video, Narration, Interval, Corpus, Localization"),
    "storage": Package("", "atomic files, locks, checksums"),
    "inference": Package("", "arrays -> ordered labels: decoders, HMM posterior, intervals, confidence"),
    "learning": Package("inference", "arrays -> parameters: zhukov19/ (the paper), hmm/ (the default method), baselines/"),
    "features": Package("records storage", "packed, memory-mapped feature rows behind FeatureRows"),
    "datasets": Package("records features storage", "files <-> records: the release, corpus.toml, COIN, ..., subtitles/"),
    "jobs": Package("storage", "one function over many items: here, in processes, on Ray"),
    "synthetic": Package("records datasets features jobs storage", "the generated corpus; films/ (rendered how-to films)"),
    "text": Package("records learning storage", "words -> arrays: stems, components, encoders/"),
    "narration": Package("records text inference storage", "subtitles -> windows and evidence for steps"),
    "methods": Package("records text inference learning storage", "corpus -> scorer; the METHODS table"),
    "metrics": Package("records inference", "recall, mAP, F1, IoU: numbers from labels and truth"),
    "evaluation": Package("records inference methods narration metrics features storage", "splits, evaluate, paired intervals"),
    "runs": Package("records datasets storage", "a run folder, written and read, and the labels of people in it"),
    "correction": Package(
        "records datasets runs storage", "corrections of a run: the review queue, its accuracy, labels from other programs"
    ),
    "extraction": Package("records features text jobs storage", "video file -> features (T, D)"),
    "model": Package(
        "records features datasets text inference methods narration extraction storage",
        "a trained model: its file, localization of arrays and video files",
    ),
    "corpus_building": Package("records text metrics storage", "related tasks, relevance, task map, download"),
    "export": Package("records runs storage", "a run folder -> files for editors, players and annotation tools"),
    "report": Package("records runs storage metrics corpus_building", "a run folder -> figures and one HTML file"),
    "viewer": Package("records runs correction storage", "a run folder -> a web page"),
    "experiments": Package(_UPPER, "one file per table of the paper"),
    "pipeline": Package(f"{_UPPER} experiments", "`run FOLDER`: the stages in order"),
}
LAZY = {"crosstask", "cli"}  # the public API and the command line may import everything; nothing imports the command line


def package_of(path: Path) -> str:
    relative = path.relative_to(SOURCE)
    return relative.parts[0].removesuffix(".py") if len(relative.parts) > 1 or relative.name != "__init__.py" else "crosstask"


def imported_packages(path: Path) -> set[str]:
    packages = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; name the package in full"
            names = [node.module or ""]
            if node.module == "crosstask":
                names = [f"crosstask.{alias.name}" for alias in node.names if (SOURCE / alias.name).exists()]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        packages |= {name.split(".")[1] for name in names if name.startswith("crosstask.")}
    return packages


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_look_up_the_list(path: Path) -> None:
    package = package_of(path)
    if package in LAZY:
        return
    assert package in MAP, f"{package} is a new package: give it a line in MAP"
    stray = imported_packages(path) - set(MAP[package].may_import.split()) - {package}
    assert not stray, f"{path.relative_to(SOURCE)} may not import {sorted(stray)}"


def test_nothing_imports_the_command_line() -> None:
    assert [p for p in FILES if package_of(p) != "cli" and "cli" in imported_packages(p)] == []


def test_no_file_is_a_drawer_for_odds_and_ends() -> None:
    assert [p for p in FILES if p.stem in {"utils", "helpers", "misc", "common"}] == []


def test_data_is_never_run() -> None:
    """No pickle, no eval, no shell: a data file can only be read."""
    forbidden = {"pickle", "dill", "shelve", "marshal", "joblib"}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                assert not {alias.name.split(".")[0] for alias in node.names} & forbidden, path
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in forbidden, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec"}, path
            if isinstance(node, ast.keyword) and node.arg in {"allow_pickle", "shell"}:
                assert isinstance(node.value, ast.Constant) and node.value.value is False, path
