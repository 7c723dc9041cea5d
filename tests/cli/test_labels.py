import pytest

from cli.running import crosstask, json_of, refused
from correction.runs import write_random_run
from crosstask.correction.importing import import_labels
from crosstask.datasets import write_step_intervals
from crosstask.records import Interval, StepInterval
from crosstask.runs import open_run
from crosstask.viewer.annotations import AnnotationStore


@pytest.fixture
def run(tmp_path):
    return write_random_run(tmp_path / "run").folder


def test_labels_are_imported_listed_and_exported(run, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("video,step,start_s,end_s,shown\n1_v0,pour milk,3,7,\n1_v0,serve,,,no\n1_v9,fry egg,1,2,\n")
    done = crosstask("labels", "import", path, "--run", run)
    assert done.returncode == 0 and "2 steps in 1 video labelled from mine.csv" in done.stdout
    assert "no match: line 4: step 'fry egg' is not in the list of 'Make Latte'" in done.stderr
    again = json_of("labels", "import", path, "--run", run)
    assert again["imported"] == {} and again["kept"] == ["1_v0, 'pour milk'", "1_v0, 'serve'"] and len(again["mismatches"]) == 1
    listed = json_of("labels", "list", run)
    assert [(row["step"], row["kind"], row["intervals"]) for row in listed["labels"]] == [
        ("pour milk", "intervals", [[3.0, 7.0]]),
        ("serve", "not shown", []),
    ]
    assert listed["corrected"] == 2 and "pour milk" in crosstask("labels", "list", run).stdout
    assert crosstask("export", run, "--format", "vtt", "--out", tmp_path / "out").returncode == 0
    assert "00:00:03.000 --> 00:00:07.000\npour milk" in (tmp_path / "out" / "vtt" / "1_v0.vtt").read_text()


def test_a_repeated_import_brings_the_report_up_to_date(run, tmp_path):
    """The first one may have been killed between the labels and the report."""
    path = tmp_path / "mine.csv"
    path.write_text("video,step,start_s,end_s\n1_v0,pour milk,3,7\n")
    import_labels(open_run(run), path)
    (run / "report.html").write_text("before")
    assert json_of("labels", "import", path, "--run", run)["imported"] == {}
    assert (run / "report.html").read_text("utf-8") != "before"


def test_an_import_brings_saved_annotations_up_to_date(run, tmp_path):
    """They hold all shown steps of a video, so that `evaluate` and others read them as they are."""
    opened = open_run(run)
    key, step = opened.run.videos[0].key, opened.run.tasks["1"].steps[1]
    AnnotationStore(opened, write_step_intervals).save_annotation(key, (StepInterval(0, Interval(1.0, 2.0)),), [0])
    (tmp_path / "mine.csv").write_text(f"video,step,start_s,end_s\n{key},{step},33,37.5\n")
    assert crosstask("labels", "import", tmp_path / "mine.csv", "--run", run).returncode == 0
    lines = (run / "annotations" / f"{key}.csv").read_text().splitlines()
    assert [line for line in lines if line[0] in "12"] == ["1,1,2", "2,33,37.5"]


def test_mistakes_are_said_in_one_line(run, tmp_path):
    (tmp_path / "empty.csv").touch()
    assert "empty.csv: empty" in refused("labels", "import", tmp_path / "empty.csv", "--run", run)
    assert "cannot be read" in refused("labels", "import", tmp_path / "none.csv", "--run", run)
    assert "no such folder" in refused("labels", "import", tmp_path / "empty.csv", "--run", tmp_path / "none")
    (run / "labels.jsonl").write_text("{}\n")
    assert "labels.jsonl, line 1: damaged" in refused("labels", "list", run)
    assert "labels.jsonl, line 1: damaged" in refused("export", run, "--format", "csv")


def test_labels_of_steps_that_got_another_name_are_counted(run, tmp_path):
    (tmp_path / "mine.csv").write_text("video,step,moment_s\n1_v0,pour milk,3\n")
    crosstask("labels", "import", tmp_path / "mine.csv", "--run", run)
    text = (run / "labels.jsonl").read_text()
    (run / "labels.jsonl").write_text(text.replace("pour milk", "add milk"))
    said = crosstask("labels", "list", run)
    assert "1 label of steps or video files that the run does not have, kept and not listed: 'add milk' of 1_v0" in said.stderr
