"""Figures as inline SVG: timelines, bars, curves. Meaning is shown by shape as well as colour, with a text for screen readers."""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from crosstask.records import PERSON, FoundStep, Localization, StepInterval
from crosstask.report.timeline import RIGHT, SCORES, TRUTH, UNKNOWN, WINDOW, WRONG, scaled_scores, verdict

ROW, LABEL, WIDTH = 30, 190, 900  # height of a row, width of its label, width of the figure, in SVG units
METHOD_COLOURS = ("#2b6cb0", "#b7791f", "#2f855a", "#718096", "#805ad5", "#c53030")


def timeline(
    localization: Localization,
    n_segments: int,
    scores: npt.NDArray[np.floating] | None,
    truth: tuple[StepInterval, ...] | None,
    windows: tuple[StepInterval, ...] | None,
) -> str:
    """One video as SVG: a row per step with its scores, truth, window, and the found moment and interval."""
    scale = (WIDTH - LABEL - 10) / n_segments
    parts = []
    for k, step in enumerate(localization.steps):
        top = k * ROW
        parts.append(f'<rect x="{LABEL}" y="{top + 2}" width="{n_segments * scale:.1f}" height="{ROW - 4}" fill="#f7f8fa"/>')
        parts += [_interval(s, top + 2, ROW - 9, scale, TRUTH) for s in truth or () if s.step == k]
        parts += [_interval(s, top + ROW - 7, 5, scale, WINDOW) for s in windows or () if s.step == k]
        if scores is not None:
            parts.append(_curve(scores[:, k], top + 3, ROW - 8, scale))
        colour, marker, word = verdict(truth, k, step.segment, n_segments)
        parts.append(_found_interval(step, top, scale))
        absence = "" if step.shown else ", absent as a person says" if step.by == PERSON else ", predicted absent"
        parts.append(
            _mark(LABEL + (step.segment + 0.5) * scale, top, colour, marker, f"{step.name}: {word} at {step.segment} s{absence}")
        )
        certainty = "◆ " if step.by == PERSON else "" if step.shown else "(?) "
        label = escape(certainty + (step.name if len(step.name) < 26 else step.name[:24] + "…"))
        parts.append(f'<text x="{LABEL - 8}" y="{top + 19}" text-anchor="end" class="step">{label}</text>')
    total = len(localization.steps) * ROW
    parts += [
        f'<text x="{LABEL + t * scale:.0f}" y="{total + 13}" class="axis">{t // 60}:{t % 60:02d}</text>'
        for t in _ticks(n_segments)
    ]
    title = f"Timeline of {escape(localization.video)}: " + ", ".join(
        f"{escape(s.name)} at {s.segment} s" for s in localization.steps
    )
    return f'<svg viewBox="0 0 {WIDTH} {total + 18}" role="img" aria-label="{title}">{"".join(parts)}</svg>'


def _interval(step_interval: StepInterval, top: float, tall: float, scale: float, colour: str) -> str:
    wide = max(1.0, step_interval.interval.length_s * scale)
    return f'<rect x="{LABEL + step_interval.interval.start_s * scale:.1f}" y="{top}" width="{wide:.1f}" height="{tall}" fill="{colour}"/>'


def _found_interval(step: FoundStep, top: float, scale: float) -> str:
    """The found interval as a bracket; dashed if the step is predicted absent."""
    x, wide, y = LABEL + step.start_s * scale, max(1.0, (step.end_s - step.start_s) * scale), top + ROW - 3
    dashed = "" if step.shown else ' stroke-dasharray="4 3"'
    return f'<path d="M{x:.1f} {y - 5}v5h{wide:.1f}v-5" fill="none" stroke="{UNKNOWN}" stroke-width="1.5"{dashed}/>'


def _curve(scores: npt.NDArray[np.floating], top: float, tall: float, scale: float, max_points: int = 260) -> str:
    step = max(1, len(scores) // max_points)
    finite = np.maximum(scores, np.quantile(scores, 0.02))
    shown = scaled_scores(finite)[: len(scores) // step * step].reshape(-1, step).max(axis=1)
    points = " ".join(f"{LABEL + (i * step + step / 2) * scale:.1f},{top + (1 - y) * tall:.1f}" for i, y in enumerate(shown))
    return f'<polyline points="{points}" fill="none" stroke="{SCORES}" stroke-width="1"/>'


def _mark(x: float, top: float, colour: str, marker: str, title: str) -> str:
    line = f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top + 1}" y2="{top + ROW - 1}" stroke="{colour}" stroke-width="2"/>'
    y = top + 7
    if marker == "x":
        shape = f'<path d="M{x - 4:.1f} {y - 4}l8 8m0 -8l-8 8" stroke="{colour}" stroke-width="2"/>'
    else:
        shape = f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="{colour}"/>'
    return f"<g><title>{escape(title)}</title>{line}{shape}</g>"


def _ticks(n_segments: int) -> range:
    every = next(step for step in (10, 30, 60, 120, 300, 600, 1800, 10**9) if n_segments / step <= 8)
    return range(0, n_segments, every)


def bars(rows: Mapping[str, Mapping[str, float]], methods: Sequence[str]) -> str:
    """Recall per task as SVG, a bar per method, with the value in percent beside it."""
    bar, gap = 11, 10
    tall = len(methods) * bar + gap
    most = max((value for values in rows.values() for value in values.values()), default=1.0) or 1.0
    parts = []
    for i, (name, values) in enumerate(rows.items()):
        top = i * tall
        parts.append(
            f'<text x="{LABEL + 40}" y="{top + tall / 2 + 3:.0f}" text-anchor="end" class="step">{escape(name[:36])}</text>'
        )
        for j, method in enumerate(methods):
            wide = values.get(method, 0.0) / most * (WIDTH - LABEL - 120)
            colour, y = METHOD_COLOURS[j % len(METHOD_COLOURS)], top + j * bar + gap / 2
            parts.append(
                f'<rect x="{LABEL + 50}" y="{y}" width="{wide:.1f}" height="{bar - 2}" fill="{colour}"><title>{escape(method)}</title></rect>'
            )
            parts.append(f'<text x="{LABEL + 54 + wide:.1f}" y="{y + 8}" class="axis">{100 * values.get(method, 0.0):.1f}</text>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {len(rows) * tall}" role="img" aria-label="Recall per task and method">{"".join(parts)}</svg>'
    )


def curves(losses: Mapping[str, Sequence[float]]) -> str:
    """Mean loss per label by epoch as SVG, a line per method."""
    tall, left = 160, 50
    every = [value for values in losses.values() for value in values]
    low, high = min(every), max(every)
    parts = [f'<text x="{left - 6}" y="14" text-anchor="end" class="axis">{high:.2f}</text>']
    parts.append(f'<text x="{left - 6}" y="{tall}" text-anchor="end" class="axis">{low:.2f}</text>')
    for j, (method, values) in enumerate(losses.items()):
        wide = (WIDTH - left - 140) / max(1, len(values) - 1)
        points = [(left + i * wide, 10 + (high - v) / max(high - low, 1e-9) * (tall - 10)) for i, v in enumerate(values)]
        colour = METHOD_COLOURS[j % len(METHOD_COLOURS)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(
            f'<text x="{points[-1][0] + 6:.1f}" y="{points[-1][1] + 4:.1f}" class="axis" fill="{colour}">{escape(method)}</text>'
        )
    parts.append(f'<text x="{left}" y="{tall + 18}" class="axis">epoch 1 to {max(len(v) for v in losses.values())}</text>')
    return f'<svg viewBox="0 0 {WIDTH} {tall + 24}" role="img" aria-label="Learning curves">{"".join(parts)}</svg>'


LEGEND = (
    f'<p class="legend"><svg viewBox="0 0 14 14"><rect width="14" height="14" fill="{TRUTH}"/></svg> truth '
    f'<svg viewBox="0 0 14 14"><path d="M0 10L5 3L9 8L14 2" stroke="{SCORES}" fill="none" stroke-width="2"/></svg> score '
    f'<svg viewBox="0 0 14 14"><circle cx="7" cy="7" r="5" fill="{RIGHT}"/></svg> found, right '
    f'<svg viewBox="0 0 14 14"><path d="M2 2l10 10m0 -10l-10 10" stroke="{WRONG}" stroke-width="3"/></svg> found, wrong '
    f'<svg viewBox="0 0 14 14"><path d="M1 5v6h12v-6" fill="none" stroke="{UNKNOWN}" stroke-width="1.5"/></svg> interval found '
    "(dashed, (?): predicted absent) "
    f'<svg viewBox="0 0 14 14"><rect y="8" width="14" height="5" fill="{WINDOW}"/></svg> narration window (training only)</p>'
)
