"""Drawings of verbs: each takes the object, its position, and the time `t` since the action began, in seconds."""

import math
from collections.abc import Callable, Mapping

from crosstask.synthetic.films.drawing import Canvas, Palette, Point, draw_hand, draw_object, hsv

STEEL, WOOD, DARK = hsv(0.6, 0.05, 0.8), hsv(0.08, 0.55, 0.55), hsv(0, 0, 0.2)
Action = Callable[[Canvas, Palette, str, Point, float], None]


def bowl(canvas: Canvas, palette: Palette, at: Point, r: float, content: str | None) -> None:
    """Draw a bowl, empty or with content."""
    x, y = at
    canvas.polygon([(x - r, y), (x + r, y), (x + 0.6 * r, y + 0.75 * r), (x - 0.6 * r, y + 0.75 * r)], palette.vessel)
    canvas.ellipse(at, r, 0.3 * r, hsv(0, 0, 0.85))
    if content:
        canvas.ellipse((x, y + 0.02), 0.85 * r, 0.22 * r, palette.of(content))


def pour(canvas: Canvas, palette: Palette, noun: str, at: Point, t: float) -> None:
    """Draw a tilted jug, a stream and a bowl."""
    x, y = at
    sway = 0.015 * math.sin(3 * t)
    mouth = (x - 0.02 + sway, y - 0.24)
    bowl(canvas, palette, (x, y), 0.16, noun)
    canvas.line([mouth, (x - 0.01 + sway, y)], palette.of(noun), 0.028 + 0.006 * math.sin(17 * t))
    canvas.turned_box((mouth[0] + 0.10, mouth[1] - 0.07), 0.13, 0.24, -1.05 + 0.08 * math.sin(2 * t), palette.vessel)
    canvas.turned_box((mouth[0] + 0.09, mouth[1] - 0.06), 0.09, 0.16, -1.05 + 0.08 * math.sin(2 * t), palette.of(noun))
    draw_hand(canvas, palette, (mouth[0] + 0.19, mouth[1] - 0.10), (1.1, y - 0.1))


def cut(canvas: Canvas, palette: Palette, noun: str, at: Point, t: float) -> None:
    """Draw a board, an object in slices and a knife that moves up and down."""
    x, y = at
    canvas.turned_box((x, y + 0.07), 0.56, 0.14, 0, WOOD)
    draw_object(canvas, palette, noun, (x - 0.12, y), 0.09)
    for k in range(1 + int(2 * t) % 4):
        canvas.ellipse((x + 0.06 + 0.05 * k, y + 0.05), 0.02, 0.06, palette.of(noun, 0.1 if k % 2 else -0.1))
    lift = 0.07 * abs(math.sin(5 * t))
    canvas.turned_box((x + 0.02, y - 0.05 - lift), 0.03, 0.22, 0.1, STEEL)
    canvas.turned_box((x + 0.04, y - 0.20 - lift), 0.045, 0.12, 0.1, DARK)
    draw_hand(canvas, palette, (x + 0.04, y - 0.22 - lift), (x + 0.5, -0.05))
    draw_hand(canvas, palette, (x - 0.20, y - 0.03), (-0.1, y + 0.1), 0.045)


def stir(canvas: Canvas, palette: Palette, noun: str, at: Point, t: float) -> None:
    """Draw a bowl and a spoon that circles in it."""
    x, y = at
    bowl(canvas, palette, at, 0.2, noun)
    a = 6 * t
    tip = (x + 0.11 * math.cos(a), y + 0.035 * math.sin(a) + 0.02)
    for k in range(3):
        b = a - 0.7 * (k + 1)
        canvas.ellipse((x + 0.12 * math.cos(b), y + 0.035 * math.sin(b) + 0.02), 0.02, 0.01, palette.of(noun, 0.15))
    grip = (x + 0.05 * math.cos(a) + 0.03, y - 0.26)
    canvas.line([tip, grip], WOOD, 0.022)
    draw_hand(canvas, palette, grip, (x + 0.45, -0.1))


def add(canvas: Canvas, palette: Palette, noun: str, at: Point, t: float) -> None:
    """Draw a hand from which objects fall onto a plate."""
    x, y = at
    canvas.ellipse((x, y + 0.05), 0.24, 0.07, hsv(0, 0, 0.92))
    canvas.ellipse((x, y + 0.05), 0.17, 0.045, hsv(0, 0, 0.8))
    fall = (1.3 * t) % 1
    for k in range(3):
        part = (fall + k / 3) % 1
        draw_object(canvas, palette, noun, (x - 0.07 + 0.07 * k, y - 0.22 + 0.26 * part), 0.035)
    draw_hand(canvas, palette, (x, y - 0.27), (x - 0.5, y - 0.45), 0.06)


def spread(canvas: Canvas, palette: Palette, noun: str, at: Point, t: float) -> None:
    """Draw a slice, a growing layer on it and a knife that moves left and right."""
    x, y = at
    canvas.ellipse((x, y + 0.03), 0.26, 0.13, hsv(0.09, 0.45, 0.75))
    canvas.ellipse((x, y + 0.03), 0.22, 0.105, hsv(0.1, 0.25, 0.92))
    reach = 0.07 + 0.1 * min(1.0, t / 3)
    canvas.ellipse((x - 0.02, y + 0.03), reach, 0.5 * reach, palette.of(noun))
    shift = 0.13 * math.sin(4 * t)
    canvas.turned_box((x + shift, y), 0.24, 0.035, -0.5, STEEL)
    draw_hand(canvas, palette, (x + shift + 0.14, y - 0.09), (1.1, y - 0.35))


def flip(canvas: Canvas, palette: Palette, noun: str, at: Point, t: float) -> None:
    """Draw a pan and an object that turns in the air above it."""
    x, y = at
    canvas.ellipse((x, y + 0.06), 0.23, 0.075, DARK)
    canvas.ellipse((x, y + 0.05), 0.19, 0.05, hsv(0, 0, 0.32))
    canvas.line([(x + 0.2, y + 0.06), (x + 0.45, y + 0.10)], DARK, 0.035)
    draw_hand(canvas, palette, (x + 0.42, y + 0.09), (1.15, y + 0.35))
    phase = (0.8 * t) % 1
    height = 0.9 * phase * (1 - phase)
    squeeze = abs(math.cos(2 * math.pi * phase))
    canvas.ellipse((x, y + 0.03 - height), 0.13, 0.025 + 0.05 * squeeze, palette.of(noun, -0.2 if phase > 0.5 else 0.0))
    draw_object(canvas, palette, noun, (x, y + 0.01 - height), 0.045 + 0.02 * squeeze)


def press(canvas: Canvas, palette: Palette, noun: str, at: Point, t: float) -> None:
    """Draw two flat hands that press an object down."""
    x, y = at
    down = 0.03 * (1 + math.sin(4 * t))
    canvas.ellipse((x, y + 0.10), 0.16 + down, 0.05, palette.of(noun, -0.15))
    draw_object(canvas, palette, noun, (x, y + 0.03 + 0.5 * down), 0.12)
    draw_hand(canvas, palette, (x - 0.06, y - 0.08 + down), (x - 0.55, -0.05), 0.065)
    draw_hand(canvas, palette, (x + 0.07, y - 0.08 + down), (x + 0.55, -0.05), 0.065)


ACTIONS: Mapping[str, Action] = {
    "pour": pour,
    "cut": cut,
    "stir": stir,
    "add": add,
    "spread": spread,
    "flip": flip,
    "press": press,
}
