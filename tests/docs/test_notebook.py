"""The notebook runs from top to bottom in an empty folder, and is kept with what it prints."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SPEC = importlib.util.spec_from_file_location("run_notebook", ROOT / "docs" / "run_notebook.py")
run_notebook = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(run_notebook)
NOTEBOOK = json.loads(run_notebook.NOTEBOOK.read_text("utf-8"))


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.slow
def test_every_cell_runs_and_prints_as_many_lines_as_are_kept(tmp_path):
    ran = run_notebook.run(NOTEBOOK, tmp_path)
    assert len(code_cells(ran)) > 5
    for kept, new in zip(code_cells(NOTEBOOK), code_cells(ran), strict=True):
        assert [len(o.get("text", [])) for o in new["outputs"]] == [len(o.get("text", [])) for o in kept["outputs"]]


def test_a_cell_that_fails_stops_it(tmp_path):
    cell = {"cell_type": "code", "source": ["x = 1\n", "assert x == 2"], "outputs": []}
    with pytest.raises(AssertionError):
        run_notebook.run({"cells": [cell]}, tmp_path)


def test_a_cell_shows_what_it_prints_and_its_last_value(tmp_path):
    cell = {"cell_type": "code", "source": ["print('a')\n", "1 + 1"], "outputs": []}
    printed, value = run_notebook.run({"cells": [cell]}, tmp_path)["cells"][0]["outputs"]
    assert printed["text"] == ["a\n"] and value["data"]["text/plain"] == ["2"]


def test_it_is_a_notebook_file_with_unique_cells():
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in NOTEBOOK["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(cell["outputs"] or "=" in "".join(cell["source"]) for cell in code_cells(NOTEBOOK))


def test_the_page_shows_code_and_outputs():
    page = run_notebook.page_of(run_notebook.NOTEBOOK)
    assert page.startswith("# Notebook") and "ct.train(" in page and "```text\nCorpus 'kitchen'" in page
