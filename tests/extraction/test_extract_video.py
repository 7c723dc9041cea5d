import numpy as np
import pytest

pytest.importorskip("torch", reason="extra video is not installed")

from crosstask.extraction.extract_video import extract_video
from crosstask.extraction.feature_spec import parse_feature_spec
from extraction.media import write_video


def test_extraction_is_deterministic(tmp_path):
    path = write_video(tmp_path / "a.mp4", seconds=10.5, rate=4)
    rows = extract_video(path, parse_feature_spec("default"))
    assert rows.shape == (11, 1408)
    assert np.array_equal(rows, extract_video(path, parse_feature_spec("default")))
