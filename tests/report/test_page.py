import re
from html.parser import HTMLParser

import numpy as np

from crosstask.records import FoundStep, Interval, Localization, StepInterval
from crosstask.report.drawing import timeline
from crosstask.report.experiment import write_experiment_report
from crosstask.report.failures import ABSENT, ACTION, BACKGROUND, OBJECT, ORDER, RIGHT, STEP, outcomes
from crosstask.report.page import spread, write_report
from crosstask.report.timeline import draw_timeline
from crosstask.report.training import write_training_report
from crosstask.runs import open_run
from runs.test_folder import tiny_run


class Checker(HTMLParser):
    """Every element that is opened is closed, in order."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self):
        super().__init__()
        self.open, self.links = [], []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


def test_the_report_is_one_sound_file_without_network(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    text = write_report(folder).read_text("utf-8")
    checker = Checker()
    checker.feed(text)
    assert checker.open == [] and all(link.startswith("data:") for link in checker.links)
    assert not re.search(r"https?://(?!www\.w3\.org)", text) and "<script" not in text
    assert "Synthetic data" in text and "Timeline of -v1_1" in text and "Where it goes wrong" in text
    assert len(text) < 200_000


def test_the_same_run_is_the_same_report(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    assert write_report(folder).read_bytes() == write_report(folder).read_bytes()


def test_names_cannot_break_the_page(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    data = (folder / "run.json").read_text().replace("Make Latte", "<script>alert(1)</script>").replace("a run", "<b>x</b>")
    (folder / "run.json").write_text(data)
    assert "<script" not in write_report(folder).read_text()


def test_outcomes_by_hand():
    names = ["pour milk", "pour egg", "stir milk", "serve"]
    truth = tuple(StepInterval(k, Interval(10 * k, 10 * k + 5)) for k in range(3))

    def outcome(seconds, scores=None):
        steps = tuple(FoundStep(name, second, 0.0, second, second + 1) for name, second in zip(names, seconds, strict=True))
        return outcomes(Localization("v", "t", steps), truth, scores, 60)

    assert outcome([2, 12, 22, 50]) == [RIGHT, RIGHT, RIGHT, ABSENT]
    assert outcome([12, 2, 2, 50]) == [OBJECT, OBJECT, ACTION, ABSENT]
    assert outcome([22, 22, 12, 50]) == [ACTION, STEP, STEP, ABSENT]
    assert outcome([8, 8, 8, 8])[:3] == [BACKGROUND] * 3
    scores = np.zeros((60, 4))
    scores[3, 0] = 1
    assert outcome([8, 8, 8, 8], scores)[0] == ORDER


def test_spread_takes_first_and_last():
    assert spread(list("abcdefg"), 3) == ["a", "d", "g"] and spread(list("ab"), 3) == ["a", "b"]


def test_timeline_figures_are_written_and_repeat(tmp_path):
    folder, run, parses = tiny_run(tmp_path / "r")
    video, parse = run.videos[0], parses[0]
    scores = open_run(folder).scores("proposed", video.key)
    for ending in ("png", "svg"):
        path = tmp_path / f"t.{ending}"
        first = draw_timeline(path, "t", run.tasks["1"], scores, parse, video.truth, video.windows).read_bytes()
        assert len(first) > 1000


def test_the_report_of_an_experiment_stands_alone(tmp_path):
    summary = {
        "experiment": "cross-task", "corpus": "<tiny>", "synthetic": True, "runs": 2, "seed": 3, "tasks": {"1": "Make Latte"},
        "gain_from_sharing": {"mean": 0.02, "low": -0.01, "high": 0.05, "tasks": {"1": 0.02}, "tasks_won": 1, "of_tasks": 1},
        "components": [{"component": "milk", "unshared": 0.1, "shared": 0.3, "gain": 0.2}],
        "steps": [{"step": "pour milk", "unshared": 0.1, "shared": 0.3, "gain": 0.2}],
    }  # fmt: skip
    folder, _, _ = tiny_run(tmp_path / "r")
    (folder / "figure.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    text = write_experiment_report(folder, "Recall", ["", "recall"], [["a - b", "+2.0 [+1.0, +3.0]"]], summary).read_text("utf-8")
    checker = Checker()
    checker.feed(text)
    assert checker.open == [] and all(link.startswith("data:") for link in checker.links) and "<tiny>" not in text
    for part in (
        "+2.0 [+1.0, +3.0]",
        "Gain from sharing",
        "share well and poorly",
        "Synthetic data",
        "Seed 3",
        "Timeline of -v1_1",
    ):
        assert part in text, part


def test_the_report_of_a_training_says_what_went_in(tmp_path):
    losses, notes = {"proposed": (2.0, 1.5)}, ("1 video set aside: <x>",)
    path = write_training_report(tmp_path / "m.report.html", "m <1>", {"videos": 3, "seed": 0}, losses, notes)
    text = path.read_text("utf-8")
    checker = Checker()
    checker.feed(text)
    assert checker.open == [] and "Learning curves" in text and "m &lt;1&gt;" in text and "&lt;x&gt;" in text


def test_a_step_thought_to_be_absent_is_dashed_and_marked():
    shown, absent = (FoundStep("stir", 3, 0.0, 1.0, 6.0, flag) for flag in (True, False))
    drawn = [timeline(Localization("v", "t", (step,)), 10, None, None, None) for step in (shown, absent)]
    assert "stroke-dasharray" in drawn[1] and "(?) stir" in drawn[1] and "thought to be absent" in drawn[1]
    assert "stroke-dasharray" not in drawn[0] and "(?)" not in drawn[0]


def test_the_report_of_twenty_runs_of_the_published_size_stays_small(tmp_path):
    """18 primary and 65 related tasks, 20 runs of 9 settings, 36 parses with scores; the numbers are made up, their amount is not."""
    from crosstask.corpus_building.map_figure import draw_task_map
    from crosstask.records import Task
    from crosstask.runs import Run, RunVideo, write_run

    rng = np.random.default_rng(0)
    verbs, nouns = ["pour", "cut", "stir", "add", "press", "flip"], [f"noun{i}" for i in range(60)]
    names = [tuple(f"{rng.choice(verbs)} {rng.choice(nouns)}" for _ in range(9)) for _ in range(83)]
    tasks = {str(i): Task(str(i), f"Make Something Long {i}", steps, "", i < 18) for i, steps in enumerate(names)}
    videos, parses, scores = [], [], []
    for i in range(36):
        task = tasks[str(i // 2)]
        spans = tuple(StepInterval(k, Interval(30 * k + 0.5, 30 * k + 12.25)) for k in range(9))
        videos.append(RunVideo(task.id, f"video-{i}", 300, None, spans, spans))
        found = tuple(FoundStep(name, 30 * k + 3, -1.5, 30 * k, 30 * k + 9) for k, name in enumerate(task.steps))
        parses.append(Localization(f"video-{i}", task.id, found))
        scores.append(("proposed", videos[-1].key, rng.standard_normal((300, 9))))
    write_run(tmp_path, Run("x", "experiment", "", 0, True, tasks, tuple(videos), ("proposed",)), {"proposed": parses}, scores)
    (tmp_path / "figure.svg").write_text(f"<svg xmlns='http://www.w3.org/2000/svg'><!--{'x' * 900_000}--></svg>")
    draw_task_map(tmp_path, tasks, 0)
    figures = {"mean": 0.2, "deviation": 0.1, "runs": [0.2] * 20, "tasks": {t: {"mean": 0.2, "runs": [0.2] * 20} for t in tasks}}
    gained = [{"unshared": 0.1, "shared": 0.2, "gain": 0.1, "step": f"step {i}", "component": f"word {i}"} for i in range(700)]
    summary = {
        "experiment": "cross-task", "corpus": "made up", "synthetic": True, "runs": 20, "seed": 0, "steps": gained, "components": gained,
        "results": {f"setting {i}": {"recall": figures, "map": figures, "f1": figures} for i in range(9)},
        "tuning": {f"setting {i}": [{"chosen": {"learning_rate": 1e-5}, "tried": [{"recall": 0.2}] * 12}] * 20 for i in range(9)},
    }  # fmt: skip
    text = write_experiment_report(tmp_path, "Recall", ["", "recall"], [["a", "1"]] * 12, summary, tasks).read_text("utf-8")
    assert "Map of tasks" in text and "nearest related tasks" in text and "fell: " in text and "Timeline of video-35" in text
    assert 1_000_000 < len(text.encode()) < 5_000_000
    print("report of twenty runs:", len(text.encode()), "bytes, map", (tmp_path / "figures/map.svg").stat().st_size)
