import errno
import io
import os

import numpy as np
import pytest

pytest.importorskip("av", reason="extra video is not installed")

from crosstask.extraction import thumbnails as thumbnails_file
from crosstask.extraction.containers import open_container
from crosstask.extraction.thumbnails import encode_jpeg, thumbnails
from crosstask.records import InputError
from extraction.media import write_video


def brightness(image):
    return float(image.mean())


def test_thumbnail_shows_its_second(tmp_path):
    path = write_video(tmp_path / "a.mp4", seconds=6, rate=8)
    found = thumbnails(path, [5, 0, 3, 3], height=24)
    assert list(found) == [0, 3, 5] and found[0].shape == (24, 32, 3)
    for second, image in found.items():
        assert abs(brightness(image) - (20 + 30 * second)) < 8


@pytest.mark.parametrize("ending", ["mkv", "avi"])
def test_seeking_in_other_containers(tmp_path, ending):
    path = write_video(tmp_path / f"a.{ending}", seconds=6, rate=8, sound=False)
    found = thumbnails(path, [1, 4])
    assert abs(brightness(found[1]) - 50) < 8 and abs(brightness(found[4]) - 140) < 8


def test_long_video_is_not_decoded_completely(tmp_path, monkeypatch):
    """Two distant seconds decode only the frames since their key frames, not all 2400."""
    path = write_video(
        tmp_path / "long.mp4", seconds=600, rate=4, sound=False, draw=lambda t: np.full((48, 64, 3), int(t) // 4, np.uint8)
    )
    decoded = []
    whole = thumbnails_file._frames_with_time
    monkeypatch.setattr(
        thumbnails_file, "_frames_with_time", lambda *file: (decoded.append(1) or frame for frame in whole(*file))
    )
    found = thumbnails(path, [100, 500])
    assert abs(brightness(found[100]) - 25) < 6 and abs(brightness(found[500]) - 125) < 6
    assert len(decoded) < 600


def test_slide_is_shown_at_every_second_of_its_duration(tmp_path):
    path = write_video(tmp_path / "slides.mp4", seconds=40, times=[0, 5, 35], sound=False)
    found = thumbnails(path, [0, 20, 34, 36])
    assert [round(brightness(found[s]) / 10) for s in (20, 34)] == [17, 17] and abs(brightness(found[0]) - 20) < 8


def test_thumbnail_rotation_is_applied(tmp_path):
    path = write_video(tmp_path / "r.mp4", seconds=2, rotation=90)
    assert thumbnails(path, [1], height=32)[1].shape == (32, 24, 3)


def test_last_frame_after_the_end_and_error_for_invalid_files(tmp_path):
    path = write_video(tmp_path / "a.mp4", seconds=3)
    assert abs(brightness(thumbnails(path, [50])[50]) - 80) < 8
    (tmp_path / "b.mp4").write_bytes(b"no film")
    with pytest.raises(InputError, match=r"b\.mp4"):
        thumbnails(tmp_path / "b.mp4", [1])


def test_jpeg_is_deterministic():
    from PIL import Image

    image = np.random.default_rng(0).integers(0, 255, (24, 32, 3)).astype(np.uint8)
    assert encode_jpeg(image) == encode_jpeg(image)
    assert Image.open(io.BytesIO(encode_jpeg(image))).size == (32, 24)


def test_a_disk_that_fails_is_not_a_video_without_pictures(tmp_path, monkeypatch):
    (tmp_path / "a.mp4").write_bytes(b"x")

    def failing(path, *arguments, **options):
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    monkeypatch.setattr(os, "open", failing)
    with pytest.raises(OSError, match=r"a\.mp4"), open_container(tmp_path / "a.mp4"):
        pass
