import pytest

from crosstask.records import InputError
from crosstask.report.training import refuse_other_page, write_training_report
from report.checker import Checker


def test_the_report_of_a_training_has_curves_and_notes(tmp_path):
    losses, notes = {"proposed": (2.0, 1.5)}, ("1 video skipped: <x>",)
    path = write_training_report(tmp_path / "m.report.html", "m <1>", {"videos": 3, "seed": 0}, losses, notes)
    text = path.read_text("utf-8")
    checker = Checker()
    checker.feed(text)
    assert checker.open == [] and "Learning curves" in text and "m &lt;1&gt;" in text and "&lt;x&gt;" in text


def test_only_reports_of_trainings_are_overwritten(tmp_path):
    path = tmp_path / "m.report.html"
    refuse_other_page(path)
    refuse_other_page(write_training_report(path, "m", {}, {}))
    path.write_bytes(b"\xffmine")
    with pytest.raises(InputError, match=r"m\.report\.html: not the report of a training, and would be overwritten"):
        refuse_other_page(path)
