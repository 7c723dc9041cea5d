"""Results of an experiment on disk: results.json, results.csv, table.tex and a figure; the same results give the same bytes."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from crosstask.evaluation.paired import METRICS, compare_methods, summarise_method
from crosstask.experiments.arms import Arm
from crosstask.experiments.figures import draw_bars
from crosstask.experiments.runner import ExperimentConfig, Results, run_arms
from crosstask.records import InputError
from crosstask.storage import csv_text, number_or_text, read_text, write_json, write_text

FORMAT = 1  # version of results.json
Summary = dict[str, Any]


@dataclass(frozen=True)
class ExperimentResult:
    """The summary (results.json), the displayed table (a header and rows of cells), and the rows of results.csv."""

    summary: Summary
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    csv_rows: Sequence[Sequence[Any]] = ()
    results: Results = field(default_factory=dict)


Draw = Callable[[ExperimentConfig, Summary], None]


def run_and_summarise(
    config: ExperimentConfig,
    name: str,
    arms: Sequence[Arm],
    pairs: Sequence[tuple[str, str]],
    show: Sequence[str] = (),
) -> tuple[Summary, Results]:
    """Run all arms; the summary of each with paired differences of some pairs, and the results of all runs."""
    results, tuned = run_arms(config, arms, show)
    by_arm = {arm.name: summarise_method(results[arm.name]) for arm in arms}
    tasks = config.open_first_corpus().tasks
    evaluated = sorted({task for of_arm in by_arm.values() for task in of_arm["recall"]["tasks"]})
    summary: Summary = {
        "format": FORMAT,
        "experiment": name,
        **config.protocol(),
        "settings": {arm.name: arm.values() for arm in arms},
        "learning": dict(sorted(config.learning.items())),
        "tasks": {task: tasks[task].title for task in evaluated},
        "results": by_arm,
        "differences": {f"{a} - {b}": compare_methods(by_arm[a], by_arm[b]) for a, b in pairs if a in by_arm and b in by_arm},
    }
    if tuned:
        summary["tuning"] = tuned
    return summary, results


def result_table(summary: Summary, title: str, results: Results, measures: Sequence[str] = METRICS) -> ExperimentResult:
    """A table with a row per arm (mean and standard deviation), then the paired differences."""
    header = ["", *(_HEADINGS[m] for m in measures)]
    rows = [[name, *(mean_cell(of[m]) for m in measures)] for name, of in summary["results"].items()]
    rows += [[name, *(difference_cell(of[m]) for m in measures)] for name, of in summary["differences"].items()]
    return ExperimentResult(summary, title, header, rows, long_format_rows(summary), results)


_HEADINGS = {"recall": "step recall", "map": "frame mAP", "f1": "F1", "start_5s": "starts within 5 s", "iou": "IoU"}


def mean_cell(figure: Mapping[str, Any]) -> str:
    """Mean and standard deviation in percent.

    >>> mean_cell({"mean": 0.2237, "deviation": 0.004})
    '22.4 ± 0.4'
    """
    deviation = figure.get("deviation")
    return f"{100 * figure['mean']:.1f}" + ("" if deviation is None else f" ± {100 * deviation:.1f}")


def difference_cell(figure: Mapping[str, Any]) -> str:
    """Mean difference in percentage points with its 95 % interval.

    >>> difference_cell({"mean": 0.037, "low": 0.03, "high": 0.044})
    '+3.7 [+3.0, +4.4]'
    """
    interval = "" if figure["low"] is None else f" [{100 * figure['low']:+.1f}, {100 * figure['high']:+.1f}]"
    return f"{100 * figure['mean']:+.1f}{interval}"


def long_format_rows(summary: Summary) -> list[list[Any]]:
    """All values in long format: setting, run, measure, task, value; the mean over tasks has the task name 'mean'."""
    rows: list[list[Any]] = [["setting", "run", "measure", "task", "value"]]
    for name, of in summary["results"].items():
        for measure in METRICS:
            for task, figure in [("mean", of[measure]), *of[measure]["tasks"].items()]:
                rows += [[name, run, measure, task, repr(value)] for run, value in enumerate(figure["runs"])]
    return rows


def refuse_other_experiment(config: ExperimentConfig, name: str) -> None:
    """An error where the folder holds the results of another experiment, or on another corpus, which would be overwritten."""
    try:
        there = json.loads(read_text(config.out / "results.json", "utf-8"))
        before, corpus = there["experiment"], there["corpus"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # none, or damaged
        return
    if (before, corpus) != (name, config.protocol()["corpus"]):
        raise InputError(
            f"--out {config.out}: it holds the results of experiment '{before}' on '{corpus}', which would be overwritten; name another folder"
        )


def write_result(config: ExperimentConfig, result: ExperimentResult, draw: Draw | None = None) -> ExperimentResult:
    """Write the result to `config.out` and return it; numbers of the paper do not stand beside those of a synthetic corpus."""
    if config.synthetic:
        result = replace(result, summary={key: value for key, value in result.summary.items() if key != "paper"})
    write_json(config.out / "results.json", result.summary)
    write_text(config.out / "results.csv", csv_text(map(number_or_text, row) for row in result.csv_rows))
    write_text(config.out / "table.tex", latex_table(result.title, result.header, result.rows))
    (draw or draw_bars)(config, result.summary)
    return result


_SPECIAL = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}"}
_SPECIAL |= {"^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "±": r"$\pm$"}


def latex_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""A booktabs table; characters with a meaning in LaTeX are escaped.

    >>> print(latex_table("50 %", ["", "a_b"], [["x", "1 ± 2"]]).splitlines()[1])
    \caption{50 \%}
    """
    lines = [r"\begin{table}", rf"\caption{{{_latex(title)}}}", rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}} \toprule"]
    lines += [" & ".join(_latex(c) for c in header) + r" \\ \midrule"]
    lines += [" & ".join(_latex(c) for c in row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _latex(text: str) -> str:
    return "".join(_SPECIAL.get(c, c) for c in text if c.isprintable())
