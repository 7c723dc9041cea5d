"""Frames of a rendered video: kitchen, objects on the table, camera, and the current shot."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from crosstask.synthetic.films.actions import ACTIONS
from crosstask.synthetic.films.drawing import OBJECTS, Canvas, Palette, Point, draw_object, hsv, random_palette
from crosstask.synthetic.films.scripts import Shot

WIDTH, HEIGHT = 256, 192  # pixels
_GRAIN = 3.0  # deviation of the camera noise, grey levels
_GRAIN_SHIFT = 64  # pixels by which the noise of a frame may be shifted


@dataclass(frozen=True)
class Kitchen:
    """Colours, layout, unused objects and camera shake of one video."""

    palette: Palette
    horizon: float
    place: Point
    zoom: float
    mirrored: bool
    clutter: tuple[tuple[str, Point, float], ...]
    jitter: float
    hair: float


def random_kitchen(rng: np.random.Generator, unusual: bool) -> Kitchen:
    """A random kitchen; an `unusual` one (for test videos) lies further to a side, and nearer or farther away, than all others."""
    side = rng.uniform(0.10, 0.16) * rng.choice([-1, 1]) if unusual else rng.uniform(-0.07, 0.07)
    zoom = rng.choice([rng.uniform(0.75, 0.85), rng.uniform(1.2, 1.3)]) if unusual else rng.uniform(0.9, 1.15)
    clutter = tuple(
        (
            str(rng.choice(sorted(OBJECTS))),
            (float(rng.uniform(0.03, 0.97)), float(rng.uniform(0.2, 0.36))),
            float(rng.uniform(0.025, 0.05)),
        )
        for _ in range(rng.integers(1, 6))
    )
    return Kitchen(
        palette=random_palette(rng),
        horizon=float(rng.uniform(0.28, 0.42)),
        place=(float(0.45 + side), float(rng.uniform(0.44, 0.52))),
        zoom=float(zoom),
        mirrored=bool(rng.random() < 0.5),
        clutter=clutter,
        jitter=float(rng.uniform(0.002, 0.012)),
        hair=float(rng.random()),
    )


def draw_frame(kitchen: Kitchen, shot: Shot, time_s: float, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """(192, 256, 3): the frame of a shot at a time of the video."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (WIDTH, HEIGHT), kitchen.palette.wall)
    shaken = rng.normal(0, kitchen.jitter, 2)
    canvas = Canvas(ImageDraw.Draw(picture), WIDTH, kitchen.zoom, (float(shaken[0]), float(shaken[1])), kitchen.mirrored)
    t = time_s - shot.start_s
    if shot.kind == "talking":
        _talking(canvas, kitchen, t)
    else:
        _table(canvas, kitchen)
        if shot.kind == "table":
            draw_object(canvas, kitchen.palette, shot.noun, kitchen.place, 0.08)
        else:
            draw_object(canvas, kitchen.palette, shot.noun, (kitchen.place[0] - 0.32, kitchen.place[1] - 0.02), 0.07)
            ACTIONS[shot.kind](canvas, kitchen.palette, shot.noun, kitchen.place, t)
    top, left = rng.integers(0, _GRAIN_SHIFT, 2)
    grain = _camera_noise()[top : top + HEIGHT, left : left + WIDTH]
    return np.clip(np.asarray(picture) + grain, 0, 255).astype(np.uint8)


@cache
def _camera_noise() -> npt.NDArray[np.int16]:
    """(height, width, 1) of noise larger than a frame; frames take random cuts of it, since drawing noise anew would be slow."""
    size = (HEIGHT + _GRAIN_SHIFT, WIDTH + _GRAIN_SHIFT, 1)
    return np.random.default_rng(0).normal(0, _GRAIN, size).round().astype(np.int16)


def _table(canvas: Canvas, kitchen: Kitchen) -> None:
    canvas.polygon([(-1, kitchen.horizon), (2, kitchen.horizon), (2, 2), (-1, 2)], kitchen.palette.table)
    for noun, at, r in kitchen.clutter:
        draw_object(canvas, kitchen.palette, noun, at, r)


def _talking(canvas: Canvas, kitchen: Kitchen, t: float) -> None:
    """Draw head and shoulders of a person who talks."""
    palette = kitchen.palette
    x, y = 0.5 + 0.02 * math.sin(1.3 * t), 0.3 + 0.01 * math.sin(2.1 * t)
    canvas.ellipse((x, 0.85), 0.34, 0.36, palette.sleeve)
    canvas.ellipse((x, y - 0.04), 0.17, 0.2, hsv(kitchen.hair, 0.4, 0.3))
    canvas.ellipse((x, y), 0.14, 0.18, palette.skin)
    for side in (-1, 1):
        canvas.ellipse((x + 0.055 * side, y - 0.03), 0.02, 0.012, hsv(0, 0, 0.95))
        canvas.ellipse((x + 0.055 * side, y - 0.03), 0.009, 0.011, hsv(0, 0, 0.1))
    canvas.ellipse((x, y + 0.09), 0.045, 0.008 + 0.02 * abs(math.sin(9 * t)), hsv(0.98, 0.6, 0.45))
    for noun, at, r in kitchen.clutter[:2]:
        draw_object(canvas, palette, noun, (at[0], 0.68), r)
