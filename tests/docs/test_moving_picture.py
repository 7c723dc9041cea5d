"""The moving picture: steps get their times when the film reaches them, and the timeline fills up."""

import importlib.util
from pathlib import Path

import pytest

from crosstask.records import FoundStep

Image = pytest.importorskip("PIL.Image", reason="extra video is not installed")
SCRIPT = Path(__file__).parent.parent.parent / "docs" / "moving_picture.py"


@pytest.fixture(scope="module")
def moving_picture():
    spec = importlib.util.spec_from_file_location("moving_picture", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scene_of(moving_picture):
    frames = [(float(second), Image.new("RGB", moving_picture.FILM, "white")) for second in range(20)]
    steps = [FoundStep("pour milk", 6.0, 0.0, 5.0, 8.0), FoundStep("stir", 12.0, 0.0, 11.0, 14.0)]
    return moving_picture.Scene("Make Tea", steps, 20.0, frames)


def colour_at(moving_picture, picture, moment_s):
    return picture.getpixel((round(moving_picture.place(moment_s, 20.0)), moving_picture.BAR_TOP + 10))


def test_the_timeline_fills_up_as_far_as_the_film_has_come(moving_picture):
    scene = scene_of(moving_picture)
    first, middle, last = (moving_picture.draw(scene, number) for number in (0, 9, 19))
    pale = colour_at(moving_picture, first, 6.5)
    blue = colour_at(moving_picture, middle, 6.5)
    assert pale != blue
    assert colour_at(moving_picture, middle, 12.5) == pale
    assert colour_at(moving_picture, last, 6.5) == blue and colour_at(moving_picture, last, 12.5) not in (pale, blue)


def test_it_is_written_as_a_film_from_a_real_video(moving_picture, tmp_path):
    pytest.importorskip("av", reason="extra video is not installed")
    from crosstask.synthetic.films.corpus import render_corpus
    from crosstask.synthetic.films.scripts import TASKS

    render_corpus(tmp_path, videos_per_task=1, test_videos_per_task=0, tasks=TASKS[:1])
    frames = moving_picture.frames_of(tmp_path / "videos" / "latte" / "latte-00.mp4")
    assert len(frames) > 20 and frames[0][1].size == moving_picture.FILM
    assert [second for second, _ in frames] == sorted(second for second, _ in frames)
