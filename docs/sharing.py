"""The section on sharing between tasks, made from results/*.json: tables as markdown, the curves as a figure.

python docs/sharing.py --out docs/sharing.svg            draws the figure and prints the section
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results"
SUPERVISION = {"order": "order alone", "windows": "simulated windows", "labels": "all labels"}
STRATA = ("name trained", "words trained", "unknown word")
METRICS = ("recall", "map", "start_5s", "iou")
MAIN_COUNT = "3"  # training videos per task, of the main comparison in results/protocols/captaincook-few-videos.json
CURVES = {"captaincook": "captaincook-few-videos", "Breakfast": "breakfast-few-videos"}


def recorded(name: str) -> dict[str, Any] | None:
    """A file of `results/`, or None if it was not made yet."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def percent(value: float | None) -> str:
    """A fraction in percent with one digit.

    >>> percent(0.3125), percent(None)
    ('31.2', '')
    """
    return "" if value is None else f"{100 * value:.1f}"


def points(figure: Mapping[str, Any]) -> str:
    """A difference in points with its interval over tasks and the tasks won.

    >>> points({"mean": 0.05, "low": 0.01, "high": 0.09, "tasks_won": 9, "of_tasks": 12})
    '+5.0 [+1.0, +9.0], 9 of 12'
    """
    if figure["mean"] is None:
        return ""
    interval = "" if figure["low"] is None else f" [{100 * figure['low']:+.1f}, {100 * figure['high']:+.1f}]"
    return f"{100 * figure['mean']:+.1f}{interval}, {figure['tasks_won']} of {figure['of_tasks']}"


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    """A markdown table."""
    return ["", f"| {' | '.join(header)} |", "|---" * len(header) + "|", *(f"| {' | '.join(row)} |" for row in rows), ""]


def main_comparison() -> list[str]:
    """The one figure that the protocol named beforehand as the answer."""
    summary = recorded(CURVES["captaincook"])
    if summary is None or MAIN_COUNT not in summary["counts"]:
        return []
    figure = summary["differences"]["hmm, order: shared - best unshared"][MAIN_COUNT]
    words = f"{points(figure)} tasks, sign-flip test over tasks p = {figure['p']:.2f}"
    return [f"Main comparison of the protocol (captaincook, `hmm`, order alone, {MAIN_COUNT} videos per task): {words}.", ""]


def few_videos_lines(name: str, summary: Mapping[str, Any]) -> list[str]:
    """Recall of the main arms by number of videos, and the gain of sharing over the best unshared arm."""
    numbers, results = summary["counts"], summary["results"]
    header = [f"{summary['corpus']}, {len(summary['tasks'])} tasks", *(f"{n} per task" for n in numbers)]
    uniform = next(of["all"] for arm, of in results.items() if arm.startswith("uniform"))
    ceiling = percent(summary["ordered_ceiling"]["mean"])
    rows = [[f"Uniform (ordered ceiling {ceiling})", *[percent(uniform["recall"]["mean"])] * len(numbers)]]
    for arm, of in results.items():
        method, sharing, supervision, *rest = arm.split(", ")
        if method != "uniform" and (sharing, rest[0]) in (("component", "beside"), ("none", "alone"), ("none", "beside")):
            what = "words shared, beside other tasks" if sharing == "component" else f"nothing shared, {rest[0]}"
            rows.append([f"`{method}`, {SUPERVISION[supervision]}: {what}", *(percent(of[n]["recall"]["mean"]) for n in numbers)])
    for what, by_number in summary["differences"].items():
        if what.endswith("shared - best unshared"):
            rows.append([f"*{what}*", *(points(by_number[n]) for n in numbers)])
    lines = [f"Recall by training videos per task, `{summary['names']}` names (`{name}`):", *table(header, rows)]
    return [*lines, *metrics_lines(summary, "3" if "3" in numbers else numbers[0])]


def metrics_lines(summary: Mapping[str, Any], number: str) -> list[str]:
    """All metrics at one number of videos, for words shared and nothing shared."""
    header = [f"at {number} per task", "step recall", "frame mAP", "starts within 5 s", "IoU"]
    shown = {arm: of.get(number, of["all"]) for arm, of in summary["results"].items() if ", step, " not in arm}
    rows = [
        [f"`{arm}`" if not arm.startswith("uniform") else "Uniform", *(percent(of[m]["mean"]) for m in METRICS)]
        for arm, of in shown.items()
    ]
    return table(header, rows)


def never_trained_lines(name: str, summary: Mapping[str, Any]) -> list[str]:
    """Recall on tasks never trained on, by stratum."""
    strata = [s for s in STRATA if s in next(iter(summary["results"].values()))["strata"]]
    counted = next(iter(summary["results"].values()))["strata"]
    header = [
        "tasks never trained on",
        "all steps",
        *(f"{s} ({counted[s]['of_tasks']} tasks, {counted[s]['steps']} steps)" for s in strata),
    ]
    rows = [
        [f"`{arm}`", percent(of["recall"]["mean"]), *(percent(of["strata"][s]["mean"]) for s in strata)]
        for arm, of in summary["results"].items()
    ]
    rows += [[f"*{what}*", *(points(of[s]) for s in ("all steps", *strata))] for what, of in summary["differences"].items()]
    return [f"Tasks left out in turn, `{summary['names']}` names (`{name}`):", *table(header, rows)]


def controls_lines(name: str, summary: Mapping[str, Any]) -> list[str]:
    """Differences of the controls, and the range of the permuted draws."""
    results = summary["results"]
    plain = {row: of["recall"]["mean"] for row, of in results.items() if "permuted" not in row}
    rows = [[f"`{row}`", percent(mean)] for row, mean in plain.items()]
    for label in dict.fromkeys(row.split(", words permuted")[0] for row in results if "permuted" in row):
        drawn = [of["recall"]["mean"] for row, of in results.items() if row.startswith(f"{label}, words permuted")]
        rows.append([f"`{label}`, words permuted, {len(drawn)} draws", f"{percent(min(drawn))} to {percent(max(drawn))}"])
    rows += [[f"*{what}*", points(of)] for what, of in summary["differences"].items()]
    return [f"Controls at {summary['count']} videos per task (`{name}`):", *table(["", "step recall"], rows)]


def sharing_section() -> str:
    """The whole section as markdown; a table whose result is not there is left out."""
    makers = {
        "captaincook-few-videos": few_videos_lines,
        "captaincook-few-videos-windows": few_videos_lines,
        "captaincook-few-videos-labels": few_videos_lines,
        "captaincook-few-videos-given-names": few_videos_lines,
        "captaincook-few-videos-windows-given-names": few_videos_lines,
        "captaincook-few-videos-kitchens": few_videos_lines,
        "breakfast-few-videos": few_videos_lines,
        "captaincook-never-trained": never_trained_lines,
        "captaincook-never-trained-given-names": never_trained_lines,
        "captaincook-sharing-controls": controls_lines,
    }
    lines = ["Differences are in points with 95 % intervals over tasks, then the tasks won.", "", *main_comparison()]
    for name, make in makers.items():
        summary = recorded(name)
        if summary is not None:
            lines += make(name, summary)
    return "\n".join(lines)


def draw(out: Path) -> None:
    """Write the curves of both corpora, order alone, and below them the gain of shared words with its interval over tasks."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    found = {title: summary for title, name in CURVES.items() if (summary := recorded(name)) is not None}
    figure = Figure(figsize=(4.2 * max(1, len(found)), 5.6), layout="constrained")
    grid = figure.subplots(2, max(1, len(found)), squeeze=False, height_ratios=(3, 2))
    for i, (title, summary) in enumerate(found.items()):
        _draw_curves(grid[0, i], summary)
        grid[0, i].set(ylabel="step recall, %", title=f"{title}, {len(summary['tasks'])} tasks")
        _draw_gain(grid[1, i], summary)
        grid[1, i].set(xlabel="training videos per task", ylabel="gain of sharing, points")
    with rc_context({"svg.hashsalt": "crosstask"}):  # the same figure has the same bytes
        figure.savefig(out, metadata={"Date": None, "Creator": None} if out.suffix == ".svg" else None)


def _draw_curves(axes: Any, summary: Mapping[str, Any]) -> None:
    """Words shared beside other tasks, and nothing shared, for both methods."""
    for arm, label, style in (
        ("hmm, component, order, beside", "hmm, words shared", "o-C0"),
        ("hmm, none, order, beside", "hmm, nothing shared", "o--C0"),
        ("zhukov19, component, order, beside", "zhukov19, words shared", "s-C1"),
        ("zhukov19, none, order, alone", "zhukov19, nothing shared", "s--C1"),
    ):
        if arm in summary["results"]:
            of = summary["results"][arm]
            axes.plot(summary["counts"], [100 * of[n]["recall"]["mean"] for n in summary["counts"]], style, label=label)
    uniform = next(of["all"]["recall"]["mean"] for arm, of in summary["results"].items() if arm.startswith("uniform"))
    axes.axhline(100 * uniform, color="#999999", linestyle=":", label="Uniform")
    axes.legend(fontsize=7)


def _draw_gain(axes: Any, summary: Mapping[str, Any]) -> None:
    """Shared less best unshared by number of videos, each with its 95 % interval over tasks."""
    axes.axhline(0, color="#999999", linewidth=0.8)
    for i, (method, style) in enumerate((("hmm", "oC0"), ("zhukov19", "sC1"))):
        of = summary["differences"].get(f"{method}, order: shared - best unshared")
        if of is not None:
            shown = [of[n] for n in summary["counts"]]
            means = [100 * d["mean"] for d in shown]
            bars = [[100 * (d["mean"] - d["low"]) for d in shown], [100 * (d["high"] - d["mean"]) for d in shown]]
            axes.errorbar([k + 0.12 * i for k in range(len(shown))], means, yerr=bars, fmt=style, capsize=3, label=method)
    axes.set_xticks(range(len(summary["counts"])), summary["counts"])


def main() -> None:
    """Draw the figure and print the section."""
    parser = argparse.ArgumentParser(description="The section on sharing, from results/*.json.")
    parser.add_argument("--out", type=Path, help="figure to write, .svg or .png")
    chosen = parser.parse_args()
    if chosen.out:
        draw(chosen.out)
    print(sharing_section())


if __name__ == "__main__":
    main()
