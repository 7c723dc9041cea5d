import numpy as np

from crosstask.records import FoundStep, Interval, Localization, StepInterval
from crosstask.report.experiment import write_experiment_report
from report.checker import Checker
from runs.test_folder import tiny_run


def test_the_report_of_an_experiment_is_complete(tmp_path):
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
        "with the largest gains and losses",
        "Synthetic data",
        "Seed 3",
        "Timeline of -v1_1",
    ):
        assert part in text, part


def test_the_report_of_twenty_runs_of_the_published_size_stays_small(tmp_path):
    """18 primary and 65 related tasks, 20 runs of 9 settings, 36 localizations with scores; the values are random, their number is realistic."""
    from crosstask.corpus_building.task_map import draw_task_map
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
    assert (
        "Map of tasks" in text
        and "nearest related tasks" in text
        and "Positions of the windows" in text
        and "Timeline of video-35" in text
    )
    assert 1_000_000 < len(text.encode()) < 5_000_000
    print("report of twenty runs:", len(text.encode()), "bytes, map", (tmp_path / "figures/map.svg").stat().st_size)


def test_a_report_shows_no_map_of_an_earlier_run_of_more_tasks(tmp_path):
    from crosstask.corpus_building.task_map import draw_task_map
    from crosstask.records import Task

    tasks = {str(i): Task(str(i), f"Make Something {i}", ("pour milk", f"stir {i}"), "", True) for i in range(4)}
    assert draw_task_map(tmp_path, tasks, 0).is_file()
    assert draw_task_map(tmp_path, dict(list(tasks.items())[:2]), 0) is None
    assert not list((tmp_path / "figures").iterdir())
