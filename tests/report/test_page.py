import re

from crosstask.report import page
from crosstask.report.page import evenly_spaced, write_report
from report.checker import Checker
from runs.test_folder import tiny_run


def test_the_report_is_one_valid_file_without_network(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    text = write_report(folder).read_text("utf-8")
    checker = Checker()
    checker.feed(text)
    assert checker.open == [] and all(link.startswith("data:") for link in checker.links)
    assert not re.search(r"https?://(?!www\.w3\.org)", text) and "<script" not in text
    assert "Synthetic data" in text and "Timeline of -v1_1" in text and "Failures" in text
    assert len(text) < 200_000


def test_the_same_run_gives_the_same_report(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    assert write_report(folder).read_bytes() == write_report(folder).read_bytes()


def test_names_cannot_break_the_page(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    data = (folder / "run.json").read_text().replace("Make Latte", "<script>alert(1)</script>").replace("a run", "<b>x</b>")
    (folder / "run.json").write_text(data)
    assert "<script" not in write_report(folder).read_text()


def test_many_tasks_do_not_make_the_report_large(tmp_path, monkeypatch):
    folder, _, _ = tiny_run(tmp_path / "r")
    whole = write_report(folder).read_text("utf-8")
    monkeypatch.setattr(page, "TIMELINE_BYTES", 10)
    short = write_report(folder).read_text("utf-8")
    assert "Timeline of -v1_1" in whole and "too large" not in whole
    assert "Timeline of -v1_1" not in short and "too large; <code>crosstask view</code> has all" in short


def test_evenly_spaced_videos_include_first_and_last():
    assert evenly_spaced(list("abcdefg"), 3) == ["a", "d", "g"] and evenly_spaced(list("ab"), 3) == ["a", "b"]
