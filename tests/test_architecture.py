"""Data flows one way: who may import whom, read from the code itself."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "crosstask"
GROUND = set()
ALL_BELOW_EXPERIMENTS = {
    "records", "storing", "ordering", "learning", "features", "sources", "text", "narration", "methods", "metrics", "running", "runs",
}  # fmt: skip
ALLOWED = {
    "records": GROUND,
    "storing": GROUND,  # bytes to disk: knows no records
    "ordering": GROUND,
    "running": {"storing"},
    "learning": {"ordering"},
    "features": {"records", "storing"},
    "sources": {"records", "features", "storing"},
    "text": {"records", "learning", "storing"},
    "narration": {"records", "text", "ordering", "storing"},
    "methods": {"records", "text", "ordering", "learning", "storing"},
    "metrics": {"records", "ordering"},
    "experiments": ALL_BELOW_EXPERIMENTS,
    "extraction": {"records", "features", "text", "running", "storing"},
    "rendering": {"records", "sources", "running", "storing"},  # synthetic videos, drawn
    "collecting": {"records", "text", "metrics", "storing"},
    "runs": {"records", "storing"},  # a run folder, read and written
    "export": {"records", "runs", "storing"},
    "report": {"records", "metrics", "runs", "storing", "collecting"},
    "viewer": {"records", "runs", "storing"},
    "pipeline": ALL_BELOW_EXPERIMENTS
    | {"experiments", "extraction", "rendering", "collecting", "export", "report", "viewer", "runs"},
}
LAZY = {"crosstask", "cli"}  # the package's own front door, and the command line, which nothing imports


def room_of(path: Path) -> str:
    relative = path.relative_to(SOURCE)
    return relative.parts[0].removesuffix(".py") if len(relative.parts) > 1 or relative.name != "__init__.py" else "crosstask"


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; name the room in full"
            names = [node.module or ""]
            if node.module == "crosstask":
                names = [f"crosstask.{alias.name}" for alias in node.names if (SOURCE / alias.name).exists()]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("crosstask.")}
    return rooms


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_look_up_the_list(path: Path) -> None:
    room = room_of(path)
    if room in LAZY:
        return
    assert room in ALLOWED, f"{room} is a new room: give it a place in STYLE's picture and here"
    stray = imported_rooms(path) - ALLOWED[room] - {room}
    assert not stray, f"{path.relative_to(SOURCE)} may not import {sorted(stray)}"


def test_nothing_imports_the_command_line() -> None:
    assert [p for p in FILES if room_of(p) != "cli" and "cli" in imported_rooms(p)] == []


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
