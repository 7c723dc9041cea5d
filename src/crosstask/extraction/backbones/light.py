"""Features without weights and without torch: colour, edges, motion and sound of a second, in numpy.

For the frames I_1 .. I_n (grey G, colour bins c, edge orientation o, edge strength e) and the motion m_i = |G_i - G_(i-1)| of a second:

    colour         sqrt of the share of pixels in each colour bin           over the frame, over the moving pixels
    edges          sqrt of the share of edge strength in each orientation   in each cell of a grid, over the moving pixels
    edge strength  log(1 + mean e)                                          in each cell
    motion         log(1 + mean m), log(1 + deviation of m over time)       in each cell
    sound          mean and deviation of 64 log-mel bands

The square root makes Euclidean distances between shares Hellinger distances. Colours are hues in three levels of saturation, since a hue depends
less on the light than red, green and blue do.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.extraction.backbones.log_mel import LogMel
from crosstask.extraction.backbones.protocol import Rows
from crosstask.extraction.second import Frames, Sampling, Second

Floats = npt.NDArray[np.float32]
Bins = npt.NDArray[np.intp]

# All ours: coarse enough that a second costs about two milliseconds.
SIZE, FRAMES_PER_SECOND = 64, 4  # pixels and frames
N_HUES, N_GREYS = 12, 6
SATURATION_LEVELS = (0.2, 0.45, 0.7)  # below the first a pixel is grey
N_COLOURS = N_HUES * len(SATURATION_LEVELS) + N_GREYS
N_ORIENTATIONS = 8  # over half a turn
GRID = 4  # cells along each side
_MIN_MOTION = 8.0  # grey levels; smaller differences are noise of the camera


class Light:
    """396 columns: 84 of colour, 136 of edges, 48 of edge strength and motion, 128 of sound."""

    name = "light"
    width = 2 * N_COLOURS + N_ORIENTATIONS * (GRID**2 + 1) + 3 * GRID**2 + LogMel.width
    columns = "shares of 42 colours (all, moving pixels), edge orientations (4 x 4 cells, moving pixels), edge strength, motion, log-mel"
    sampling = Sampling(SIZE, FRAMES_PER_SECOND)

    def extract(self, seconds: Sequence[Second]) -> Rows:
        """(n, 396)."""
        seen = np.stack([describe_frames(second.frames[self.sampling]) for second in seconds])
        return np.concatenate([seen, LogMel().extract(seconds)], axis=1)


def describe_frames(frames: Frames) -> Floats:
    """(268,) colour, edges, edge strength and motion of the (n, size, size, 3) frames of a second."""
    rgb = frames.astype(np.float32)
    grey = rgb.mean(axis=3)
    moving = np.abs(np.diff(grey, axis=0, prepend=grey[:1]))
    above_noise = np.maximum(moving - _MIN_MOTION, 0)
    colours = colour_bins(rgb)
    orientations, strength = edges(grey)
    return np.concatenate(
        [
            shares(colours, np.ones_like(grey), N_COLOURS),
            shares(colours, above_noise, N_COLOURS),
            *(shares(o, e, N_ORIENTATIONS) for o, e in zip(_cells(orientations), _cells(strength), strict=True)),
            shares(orientations, strength * above_noise, N_ORIENTATIONS),
            np.log1p([cell.mean() for cell in _cells(strength)]),
            np.log1p([cell.mean() for cell in _cells(moving)]),
            np.log1p([cell.std(axis=0).mean() for cell in _cells(moving)]),
        ]
    ).astype(np.float32)


def colour_bins(rgb: Floats) -> Bins:
    """(n, h, w) index of the colour of each pixel of (n, h, w, 3): hues at each level of saturation, then greys.

    >>> colour_bins(np.array([[[[255, 0, 0], [255, 255, 255], [0, 0, 0]]]], np.float32)).tolist()
    [[[24, 41, 36]]]
    """
    highest, lowest = rgb.max(axis=3), rgb.min(axis=3)
    spread = highest - lowest
    safe = np.maximum(spread, 1)
    r, g, b = (rgb[..., i] for i in range(3))
    sixths = np.where(highest == r, (g - b) / safe, np.where(highest == g, 2 + (b - r) / safe, 4 + (r - g) / safe))
    hue = np.round(sixths / 6 * N_HUES).astype(np.intp) % N_HUES
    level = np.searchsorted(SATURATION_LEVELS, spread / np.maximum(highest, 1), side="right")
    grey = np.minimum(highest * N_GREYS / 256, N_GREYS - 1).astype(np.intp)
    return np.where(level == 0, N_HUES * len(SATURATION_LEVELS) + grey, N_HUES * (level - 1) + hue)


def edges(grey: Floats) -> tuple[Bins, Floats]:
    """(n, h, w) index of the orientation of the grey-level gradient, opposite directions being one, and its strength."""
    down, right = np.gradient(grey, axis=(1, 2))
    half_turns = np.arctan2(down, right) / np.pi  # -1 to 1
    return np.round(half_turns * N_ORIENTATIONS).astype(np.intp) % N_ORIENTATIONS, np.hypot(down, right)


def shares(bins: Bins, weights: Floats, n_bins: int) -> Floats:
    """(n_bins,) square root of the share of the weight in each bin; zeros where there is no weight.

    >>> shares(np.array([0, 2, 2, 2]), np.array([1, 0, 0, 0], np.float32), 3).tolist()
    [1.0, 0.0, 0.0]
    """
    totals = np.bincount(bins.ravel(), weights.ravel(), n_bins)
    return np.sqrt(totals / max(totals.sum(), 1e-9)).astype(np.float32)


def _cells(images: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """The GRID x GRID cells of (n, size, size) images, row by row."""
    return [cell for band in np.split(images, GRID, axis=1) for cell in np.split(band, GRID, axis=2)]
