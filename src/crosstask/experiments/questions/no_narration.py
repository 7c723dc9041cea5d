"""What are the narration windows worth? The same training with and without them."""

from crosstask.experiments.answering import Answer, answer_with_rows, summarise, write_answer
from crosstask.experiments.asking import Asked
from crosstask.experiments.settings import Setting


def no_narration(asked: Asked) -> Answer:
    """The ablation of the supplement on this corpus."""
    rows = [
        Setting("uniform", "uniform"),
        Setting("task-specific, no windows", "task-specific", "none", narration=False),
        Setting("task-specific, windows", "task-specific", "none"),
        Setting("proposed, no windows", "proposed", "component", "all", narration=False),
        Setting("proposed, windows", "proposed", "component", "all"),
    ]
    pairs = [
        ("proposed, windows", "proposed, no windows"),
        ("task-specific, windows", "task-specific, no windows"),
        ("proposed, no windows", "uniform"),
    ]
    summary, results = summarise(asked, "no-narration", rows, pairs)
    summary["paper"] = {"windows - no windows, recall": 0.054}
    return write_answer(asked, answer_with_rows(summary, "With and without narration windows, in percent", results))
