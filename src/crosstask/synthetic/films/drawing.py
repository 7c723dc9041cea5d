"""A canvas in units of its width with a camera that moves, and the objects drawn on it, each of a few polygons."""

import colorsys
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Colour = tuple[int, int, int]
Point = tuple[float, float]


@dataclass
class Canvas:
    """An image to draw on; (0, 0) is its top left and (1, 0.75) its bottom right corner before the camera moves."""

    draw: Any  # PIL.ImageDraw
    width: int
    zoom: float = 1.0
    shift: Point = (0.0, 0.0)
    mirrored: bool = False

    def at(self, point: Point) -> Point:
        """The point in pixels."""
        x = 1 - point[0] if self.mirrored else point[0]
        return (
            ((x - 0.5) * self.zoom + 0.5 + self.shift[0]) * self.width,
            ((point[1] - 0.375) * self.zoom + 0.375 + self.shift[1]) * self.width,
        )

    def polygon(self, points: Sequence[Point], colour: Colour) -> None:
        """Draw a filled polygon."""
        self.draw.polygon([self.at(p) for p in points], fill=colour)

    def ellipse(self, centre: Point, rx: float, ry: float, colour: Colour) -> None:
        """Draw a filled ellipse."""
        x, y = self.at(centre)
        rx, ry = rx * self.zoom * self.width, ry * self.zoom * self.width
        self.draw.ellipse([x - rx, y - ry, x + rx, y + ry], fill=colour)

    def line(self, points: Sequence[Point], colour: Colour, thick: float) -> None:
        """Draw a line with round joints."""
        width = max(1, round(thick * self.zoom * self.width))
        self.draw.line([self.at(p) for p in points], fill=colour, width=width, joint="curve")

    def turned_box(self, centre: Point, w: float, h: float, angle: float, colour: Colour) -> None:
        """Draw a filled rectangle rotated by an angle in radians."""
        c, s = math.cos(angle), math.sin(angle)
        corners = [(-w, -h), (w, -h), (w, h), (-w, h)]
        self.polygon([(centre[0] + (x * c - y * s) / 2, centre[1] + (x * s + y * c) / 2) for x, y in corners], colour)


def hsv(hue: float, saturation: float, value: float) -> Colour:
    """Red, green, blue of a hue (0 to 1, wraps), saturation and value (clipped).

    >>> hsv(0, 1, 1)
    (255, 0, 0)
    """
    r, g, b = colorsys.hsv_to_rgb(hue % 1, min(max(saturation, 0), 1), min(max(value, 0), 1))
    return round(r * 255), round(g * 255), round(b * 255)


# Noun -> (shape, hue, saturation, value). Several objects share a hue, and every video shifts the hues.
OBJECTS: dict[str, tuple[str, float, float, float]] = {
    "milk": ("carton", 0.60, 0.10, 0.97),
    "coffee": ("mug", 0.07, 0.70, 0.35),
    "sugar": ("cubes", 0.10, 0.05, 0.98),
    "egg": ("egg", 0.10, 0.25, 0.95),
    "onion": ("bulb", 0.90, 0.45, 0.65),
    "cheese": ("wedge", 0.13, 0.75, 0.95),
    "tomato": ("ball", 0.00, 0.85, 0.85),
    "lettuce": ("leaf", 0.30, 0.65, 0.70),
    "oil": ("bottle", 0.17, 0.75, 0.70),
    "bread": ("loaf", 0.08, 0.55, 0.70),
    "butter": ("block", 0.14, 0.45, 0.98),
    "pancake": ("stack", 0.09, 0.60, 0.80),
    "lemon": ("lemon", 0.16, 0.85, 0.95),
    "water": ("glass", 0.55, 0.40, 0.95),
    "dough": ("blob", 0.10, 0.22, 0.90),
    "pizza": ("disc", 0.05, 0.70, 0.85),
}


@dataclass(frozen=True)
class Palette:
    """The colours of one video."""

    hue_shift: float
    dimness: float
    wall: Colour
    table: Colour
    skin: Colour
    sleeve: Colour
    vessel: Colour

    def of(self, noun: str, lighter: float = 0.0) -> Colour:
        """The colour of an object in this video."""
        _, hue, saturation, value = OBJECTS[noun]
        return hsv(hue + self.hue_shift, saturation, value * self.dimness + lighter)


def random_palette(rng: np.random.Generator) -> Palette:
    """Random colours of objects, room and person."""
    return Palette(
        hue_shift=float(rng.normal(0, 0.02)),
        dimness=float(rng.uniform(0.75, 1.05)),
        wall=hsv(rng.random(), rng.uniform(0, 0.45), rng.uniform(0.35, 0.95)),
        table=hsv(rng.random(), rng.uniform(0, 0.5), rng.uniform(0.25, 0.9)),
        skin=hsv(rng.uniform(0.04, 0.09), rng.uniform(0.25, 0.6), rng.uniform(0.35, 0.95)),
        sleeve=hsv(rng.random(), rng.uniform(0.1, 0.9), rng.uniform(0.2, 0.9)),
        vessel=hsv(rng.random(), rng.uniform(0, 0.3), rng.uniform(0.4, 0.95)),
    )


def draw_object(canvas: Canvas, palette: Palette, noun: str, centre: Point, r: float) -> None:
    """Draw an object of radius r in its own shape."""
    shape = OBJECTS[noun][0]
    x, y = centre
    main, light, dark = palette.of(noun), palette.of(noun, 0.2), palette.of(noun, -0.25)
    green, white = hsv(0.33, 0.6, 0.5), hsv(0, 0, 0.95)
    if shape == "carton":
        canvas.turned_box((x, y), r * 1.2, r * 2, 0, main)
        canvas.polygon([(x - 0.6 * r, y - r), (x + 0.6 * r, y - r), (x, y - 1.6 * r)], dark)
        canvas.turned_box((x, y + 0.2 * r), r * 1.2, r * 0.6, 0, hsv(0.6, 0.7, 0.8))
    elif shape in ("bottle", "glass", "mug"):
        canvas.turned_box((x, y + 0.2 * r), r * 1.2, r * 1.8, 0, main if shape != "mug" else palette.vessel)
        if shape == "bottle":
            canvas.turned_box((x, y - 1.1 * r), r * 0.5, r * 0.9, 0, main)
            canvas.turned_box((x, y - 1.6 * r), r * 0.6, r * 0.25, 0, dark)
        elif shape == "glass":
            canvas.turned_box((x, y - 0.45 * r), r * 1.2, r * 0.5, 0, white)
        else:
            canvas.ellipse((x, y - 0.7 * r), 0.6 * r, 0.25 * r, main)
            canvas.line([(x + 0.6 * r, y - 0.3 * r), (x + 1.1 * r, y), (x + 0.6 * r, y + 0.5 * r)], palette.vessel, 0.25 * r)
    elif shape == "cubes":
        for dx, dy in ((-0.5, 0.5), (0.5, 0.5), (0, -0.4)):
            canvas.turned_box((x + dx * r, y + dy * r), 0.85 * r, 0.85 * r, 0.1 * dx, main)
            canvas.turned_box((x + dx * r + 0.2 * r, y + dy * r + 0.2 * r), 0.4 * r, 0.4 * r, 0, dark)
    elif shape == "egg":
        canvas.ellipse((x, y), 0.7 * r, 0.95 * r, main)
        canvas.ellipse((x - 0.2 * r, y - 0.3 * r), 0.2 * r, 0.3 * r, light)
    elif shape == "bulb":
        canvas.ellipse((x, y), r, 0.85 * r, main)
        for k in (0.7, 0.4):
            canvas.ellipse((x, y), k * r, 0.85 * r, dark if k > 0.5 else light)
        canvas.line([(x, y - 0.8 * r), (x + 0.1 * r, y - 1.3 * r)], green, 0.2 * r)
    elif shape == "wedge":
        canvas.polygon([(x - r, y + 0.6 * r), (x + r, y + 0.6 * r), (x + r, y - 0.7 * r)], main)
        for dx, dy in ((0.2, 0.2), (0.7, -0.1), (-0.3, 0.4)):
            canvas.ellipse((x + dx * r, y + dy * r), 0.15 * r, 0.13 * r, dark)
    elif shape == "ball":
        canvas.ellipse((x, y), r, 0.9 * r, main)
        for k in range(5):
            a = -math.pi / 2 + (k - 2) * 0.5
            canvas.line([(x, y - 0.75 * r), (x + 0.6 * r * math.cos(a), y - 0.75 * r + 0.4 * r * math.sin(a))], green, 0.15 * r)
    elif shape == "leaf":
        for k in range(7):
            a = 2 * math.pi * k / 7
            canvas.ellipse((x + 0.55 * r * math.cos(a), y + 0.45 * r * math.sin(a)), 0.5 * r, 0.45 * r, main if k % 2 else dark)
        canvas.ellipse((x, y), 0.5 * r, 0.4 * r, light)
    elif shape == "loaf":
        canvas.turned_box((x, y + 0.2 * r), 2.2 * r, 1.1 * r, 0, main)
        canvas.ellipse((x, y - 0.3 * r), 1.1 * r, 0.5 * r, main)
        for dx in (-0.5, 0, 0.5):
            canvas.line([(x + dx * r - 0.1 * r, y - 0.6 * r), (x + dx * r + 0.15 * r, y - 0.1 * r)], dark, 0.12 * r)
    elif shape == "block":
        canvas.turned_box((x, y), 2 * r, 0.9 * r, 0, main)
        canvas.polygon(
            [(x - r, y - 0.45 * r), (x - 0.6 * r, y - 0.8 * r), (x + 1.3 * r, y - 0.8 * r), (x + r, y - 0.45 * r)], light
        )
    elif shape == "stack":
        for k in (2, 1, 0):
            canvas.ellipse((x, y + (0.35 * k - 0.3) * r), 1.2 * r, 0.4 * r, dark if k % 2 else main)
    elif shape == "lemon":
        canvas.ellipse((x, y), r, 0.7 * r, main)
        canvas.polygon([(x + 0.9 * r, y - 0.2 * r), (x + 1.3 * r, y), (x + 0.9 * r, y + 0.2 * r)], main)
        canvas.polygon([(x - 0.9 * r, y - 0.2 * r), (x - 1.3 * r, y), (x - 0.9 * r, y + 0.2 * r)], dark)
    elif shape == "blob":
        canvas.ellipse((x, y), 1.2 * r, 0.7 * r, main)
        canvas.ellipse((x + 0.4 * r, y - 0.3 * r), 0.6 * r, 0.4 * r, light)
    else:  # disc
        canvas.ellipse((x, y), 1.4 * r, 0.75 * r, hsv(0.09, 0.5, 0.75))
        canvas.ellipse((x, y), 1.2 * r, 0.6 * r, main)
        for k in range(6):
            canvas.ellipse((x + 0.8 * r * math.cos(k), y + 0.4 * r * math.sin(k)), 0.15 * r, 0.12 * r, hsv(0.14, 0.5, 0.95))


def draw_hand(canvas: Canvas, palette: Palette, palm: Point, elbow: Point, r: float = 0.05) -> None:
    """Draw a forearm with sleeve, a palm and fingers."""
    wrist = (palm[0] + 0.35 * (elbow[0] - palm[0]), palm[1] + 0.35 * (elbow[1] - palm[1]))
    canvas.line([palm, wrist], palette.skin, 1.3 * r)
    canvas.line([wrist, elbow], palette.sleeve, 1.9 * r)
    canvas.ellipse(palm, r, 0.9 * r, palette.skin)
    away = math.atan2(palm[1] - elbow[1], palm[0] - elbow[0])
    for k in range(4):
        a = away + (k - 1.5) * 0.4
        canvas.line([palm, (palm[0] + 1.7 * r * math.cos(a), palm[1] + 1.7 * r * math.sin(a))], palette.skin, 0.4 * r)
