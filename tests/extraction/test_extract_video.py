import numpy as np
import pytest

pytest.importorskip("torch", reason="extra video is not installed")

from crosstask.extraction.extract_many import extract_videos
from crosstask.extraction.extract_video import extract_video
from crosstask.extraction.feature_spec import parse_feature_spec
from extraction.media import write_video


def test_extraction_is_deterministic(tmp_path):
    path = write_video(tmp_path / "a.mp4", seconds=10.5, rate=4)
    rows = extract_video(path, parse_feature_spec("default"))
    assert rows.shape == (11, 1408)
    assert np.array_equal(rows, extract_video(path, parse_feature_spec("default")))


@pytest.fixture(scope="module")
def noisy_video(tmp_path_factory):
    pytest.importorskip("efficientnet_lite_pytorch", reason="extra video is not installed")
    rng = np.random.default_rng(0)
    return write_video(
        tmp_path_factory.mktemp("films") / "a.mp4",
        seconds=9,
        draw=lambda time: rng.integers(0, 256, (48, 64, 3)).astype(np.uint8),
    )


@pytest.mark.parametrize("name", ["efficientnet-lite0", "default"])
def test_features_do_not_depend_on_the_number_of_threads(noisy_video, name):
    torch = pytest.importorskip("torch")
    before, rows = torch.get_num_threads(), []
    try:
        for n_threads in (1, 2, 4):
            torch.set_num_threads(n_threads)
            rows.append(extract_video(noisy_video, parse_feature_spec(name)))
            assert torch.get_num_threads() == n_threads, "the caller's setting is restored"
    finally:
        torch.set_num_threads(before)
    assert rows[0].shape[0] == 9 and (rows[0].tobytes() == rows[1].tobytes() == rows[2].tobytes())


@pytest.mark.slow
def test_features_do_not_depend_on_the_number_of_workers(noisy_video, tmp_path):
    videos = {"a": noisy_video, "b": write_video(tmp_path / "b.mp4", seconds=3)}
    for workers in (1, 2):
        extract_videos(videos, parse_feature_spec("efficientnet-lite0"), tmp_path / str(workers), workers=workers)
    for name in ("a.npy", "b.npy"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
