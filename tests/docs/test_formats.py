"""The page of formats says what the verbs print: every name in its shapes is in their JSON."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from crosstask.cli.main import app
from crosstask.records import FoundStep
from crosstask.synthetic import write_synthetic

PAGE = (Path(__file__).parent.parent.parent / "docs" / "formats.md").read_text("utf-8")
SHAPES = dict(re.findall(r"^\| `([\w -]+)` \| (?:`OUT/results\.json`: )?`(\{.*\})` \|$", PAGE, flags=re.MULTILINE))


def all_names(value) -> set[str]:
    """Every key in a JSON value."""
    if isinstance(value, dict):
        return set(value).union(*map(all_names, value.values()))
    return set().union(*map(all_names, value)) if isinstance(value, list) else set()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("formats")
    write_synthetic(folder, "small", "easy", 0, 16)
    return folder


def test_a_found_step_has_the_fields_of_the_page():
    shown = json.loads(re.search(r"```json\n(.*?)```", PAGE, flags=re.DOTALL)[1])
    assert set(shown[0]) == {"video", "task", "steps"}
    assert set(shown[0]["steps"][0]) == set(FoundStep("pour milk", 1.0, 0.0, 0.0, 2.0).to_json())


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("stats", ["stats"]),
        ("evaluate", ["evaluate", "--method", "uniform"]),
        ("narrate --score", ["narrate", "--score", "--encoder", "tfidf"]),
        ("validate", ["validate"]),
    ],
)
def test_the_names_of_a_shape_are_in_what_the_verb_prints(verb: str, arguments: list[str], corpus: Path):
    ended = CliRunner().invoke(app, [arguments[0], str(corpus), *arguments[1:], "--json"], catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    documented = set(re.findall(r'"(\w+)"', SHAPES[verb]))
    assert documented and documented <= all_names(json.loads(ended.stdout))
