import io

import numpy as np
import pytest

pytest.importorskip("av", reason="extra video is not installed")

from crosstask.extraction import stills as stills_file
from crosstask.extraction.thumbnails import jpeg, stills
from crosstask.records import InputError
from extraction.media import write_video


def brightness(picture):
    return float(picture.mean())


def test_the_picture_of_a_second_is_of_that_second(tmp_path):
    path = write_video(tmp_path / "a.mp4", seconds=6, rate=8)
    found = stills(path, [5, 0, 3, 3], height=24)
    assert list(found) == [0, 3, 5] and found[0].shape == (24, 32, 3)
    for second, picture in found.items():
        assert abs(brightness(picture) - (20 + 30 * second)) < 8


@pytest.mark.parametrize("ending", ["mkv", "avi"])
def test_other_containers_seek_too(tmp_path, ending):
    path = write_video(tmp_path / f"a.{ending}", seconds=6, rate=8, sound=False)
    found = stills(path, [1, 4])
    assert abs(brightness(found[1]) - 50) < 8 and abs(brightness(found[4]) - 140) < 8


def test_a_long_film_is_not_decoded_whole(tmp_path, monkeypatch):
    """Two moments far apart cost the frames since their key frames, not the 2400 of the film."""
    path = write_video(
        tmp_path / "long.mp4", seconds=600, rate=4, sound=False, draw=lambda t: np.full((48, 64, 3), int(t) // 4, np.uint8)
    )
    decoded = []
    whole = stills_file._timed
    monkeypatch.setattr(stills_file, "_timed", lambda *file: (decoded.append(1) or frame for frame in whole(*file)))
    found = stills(path, [100, 500])
    assert abs(brightness(found[100]) - 25) < 6 and abs(brightness(found[500]) - 125) < 6
    assert len(decoded) < 600


def test_a_still_slide_is_shown_at_every_second_it_stands(tmp_path):
    path = write_video(tmp_path / "slides.mp4", seconds=40, times=[0, 5, 35], sound=False)
    found = stills(path, [0, 20, 34, 36])
    assert [round(brightness(found[s]) / 10) for s in (20, 34)] == [17, 17] and abs(brightness(found[0]) - 20) < 8


def test_turned_pictures_stand_upright(tmp_path):
    path = write_video(tmp_path / "r.mp4", seconds=2, rotation=90)
    assert stills(path, [1], height=32)[1].shape == (32, 24, 3)


def test_beyond_the_end_the_last_picture_and_from_damage_nothing(tmp_path):
    path = write_video(tmp_path / "a.mp4", seconds=3)
    assert abs(brightness(stills(path, [50])[50]) - 80) < 8
    (tmp_path / "b.mp4").write_bytes(b"no film")
    with pytest.raises(InputError, match=r"b\.mp4"):
        stills(tmp_path / "b.mp4", [1])


def test_a_jpeg_repeats_and_is_small():
    from PIL import Image

    picture = np.random.default_rng(0).integers(0, 255, (24, 32, 3)).astype(np.uint8)
    assert jpeg(picture) == jpeg(picture)
    assert Image.open(io.BytesIO(jpeg(picture))).size == (32, 24)
