"""results/README.md lists every result with its command, and a page or README row rests on each."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / "results"
FILES = sorted(path.relative_to(RESULTS).as_posix() for path in RESULTS.rglob("*.json"))
LINES = [line.strip("|").split("|") for line in (RESULTS / "README.md").read_text("utf-8").splitlines() if line.startswith("| `")]
ROWS = {cells[0].strip(" `"): cells for cells in LINES}


def test_the_index_lists_exactly_the_files_there_are():
    assert sorted(ROWS) == FILES


@pytest.mark.parametrize("file", FILES)
def test_every_result_has_its_command_and_the_index_says_the_same(file):
    command = json.loads((RESULTS / file).read_text("utf-8"))["command"]
    assert command and ROWS[file][-1].strip(" `") == command


@pytest.mark.parametrize("file", FILES)
def test_commands_name_scripts_that_exist(file):
    command = json.loads((RESULTS / file).read_text("utf-8"))["command"]
    for module in re.findall(r"-m (benchmarks[\w.]+)", command):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists()
    assert "benchmarks/" not in command and "planted" not in command


@pytest.mark.parametrize("file", [file for file in FILES if not file.startswith("protocols/")])
def test_every_page_that_the_index_names_cites_the_result(file):
    name = file.removesuffix(".json")
    claims = [place.strip() for place in ROWS[file][3].split(",")]
    assert claims
    for place in claims:
        page = ROOT / ("README.md" if place == "README" else place)
        text = page.read_text("utf-8")
        assert re.search(rf"`{name}`|results/{name}\.json|\"{name}\"", text), f"{place} does not name {name}"


def test_make_evidence_runs_the_commands_of_the_index():
    from benchmarks.real_data.evidence import TABLES

    names = [table.name for table in TABLES]
    assert len(set(names)) == len(names)
    for table in TABLES:
        if f"{table.name}.json" in ROWS:
            assert ROWS[f"{table.name}.json"][-1].strip(" `") == table.command


def test_settings_that_the_narration_benchmark_tries_exist():
    from benchmarks.real_data.narration import ABLATIONS, GRID

    from crosstask.narration.collection import CollectionSettings

    names = {field.name for field in fields(CollectionSettings)}
    assert set(GRID) <= names
    assert all(set(changed) <= names for changed in ABLATIONS.values())


def test_the_page_on_reliability_says_how_many_readers_are_fuzzed():
    from fuzz.readers import READERS

    page = (ROOT / "docs" / "reliability.md").read_text("utf-8")
    assert set(re.findall(r"(\d+) readers", page)) == {str(len(READERS))}
