"""The section on sharing is made from the results that are there, and says what they say."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def sharing(monkeypatch, tmp_path):
    spec = importlib.util.spec_from_file_location("sharing", ROOT / "docs" / "sharing.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    return module


def point(mean):
    others = {metric: {"mean": mean / 2, "tasks": {}} for metric in ("map", "start_5s", "iou")}
    return {"recall": {"mean": mean, "low": mean, "high": mean, "tasks": {"1": mean}}, **others}


def few_videos_result():
    difference = {"mean": 0.076, "low": 0.006, "high": 0.138, "tasks_won": 9, "of_tasks": 12, "against": "x"}
    return {
        "corpus": "captaincook",
        "names": "published",
        "counts": ["1", "all"],
        "tasks": {"1": "a"},
        "ordered_ceiling": {"mean": 0.73},
        "results": {
            "uniform, none, order, alone": {"all": point(0.268)},
            "hmm, component, order, beside": {"1": point(0.245), "all": point(0.399)},
            "hmm, none, order, alone": {"1": point(0.282), "all": point(0.316)},
        },
        "differences": {"hmm, order: shared - best unshared": {"1": difference, "all": difference}},
    }


def test_tables_hold_the_numbers_of_the_file(sharing, tmp_path):
    (tmp_path / "captaincook-few-videos.json").write_text(json.dumps(few_videos_result()))
    section = sharing.sharing_section()
    assert "| `hmm`, order alone: words shared, beside other tasks | 24.5 | 39.9 |" in section
    assert "+7.6 [+0.6, +13.8], 9 of 12" in section and "ordered ceiling 73.0" in section
    assert "| `hmm, none, order, alone` | 28.2 | 14.1 | 14.1 | 14.1 |" in section


def test_the_main_comparison_is_said_first_with_its_interval_and_p_value(sharing, tmp_path):
    result = few_videos_result()
    result["counts"] = ["3"]
    difference = {"mean": 0.059, "low": -0.015, "high": 0.126, "p": 0.0713, "tasks_won": 9, "of_tasks": 12}
    result["differences"] = {"hmm, order: shared - best unshared": {"3": difference}}
    result["results"] = {"uniform, none, order, alone": {"all": point(0.268)}}
    (tmp_path / "captaincook-few-videos.json").write_text(json.dumps(result))
    said = sharing.sharing_section().splitlines()[2]
    assert said.endswith("3 videos per task): +5.9 [-1.5, +12.6], 9 of 12 tasks, sign-flip test over tasks p = 0.07.")


def test_a_missing_result_is_left_out(sharing):
    assert "captaincook" not in sharing.sharing_section()


def test_the_figure_is_drawn(sharing, tmp_path):
    (tmp_path / "captaincook-few-videos.json").write_text(json.dumps(few_videos_result()))
    sharing.draw(tmp_path / "figure.svg")
    assert b"<svg" in (tmp_path / "figure.svg").read_bytes()[:600]


def test_the_real_results_can_be_shown(sharing, monkeypatch):
    monkeypatch.setattr(sharing, "RESULTS", ROOT / "results")
    assert sharing.sharing_section().startswith("Differences are in points")
