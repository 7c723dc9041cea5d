import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from crosstask.extraction.backbones.light import GRID, N_COLOURS, SIZE, Light, describe_frames, edges
from crosstask.extraction.second import Second


def frames_of(*images):
    return np.stack([np.broadcast_to(np.asarray(image, np.uint8), (SIZE, SIZE, 3)) for image in images])


def second_of(frames, rng):
    return Second({Light.sampling: frames}, rng.uniform(-0.5, 0.5, 16000).astype(np.float32))


def test_a_row_depends_on_its_own_second_alone():
    rng = np.random.default_rng(0)
    seconds = [second_of(rng.integers(0, 256, (4, SIZE, SIZE, 3)).astype(np.uint8), rng) for _ in range(3)]
    rows = Light().extract(seconds)
    assert rows.shape == (3, Light.width) == (3, 396) and rows.dtype == np.float32 and np.isfinite(rows).all()
    np.testing.assert_array_equal(rows, np.concatenate([Light().extract(seconds[:2]), Light().extract(seconds[2:])]))


def test_colours_are_shares_of_pixels():
    half_red = np.full((SIZE, SIZE, 3), 255, np.uint8)
    half_red[: SIZE // 2] = (255, 0, 0)
    row = describe_frames(frames_of(half_red))[:N_COLOURS]
    assert np.flatnonzero(row).tolist() == [24, 41]  # saturated red, white
    np.testing.assert_allclose(row[[24, 41]] ** 2, 0.5)


def test_only_what_moves_has_motion_and_colours_of_motion():
    grey = np.full((SIZE, SIZE, 3), 100, np.uint8)
    moved = grey.copy()
    moved[: SIZE // GRID, : SIZE // GRID] = (0, 0, 255)
    still, moving = describe_frames(frames_of(grey, grey)), describe_frames(frames_of(grey, moved))
    assert not still[N_COLOURS : 2 * N_COLOURS].any() and not still[-2 * GRID**2 :].any()
    assert np.flatnonzero(moving[-2 * GRID**2 : -(GRID**2)]).tolist() == [0]  # the top left cell
    assert np.flatnonzero(moving[N_COLOURS : 2 * N_COLOURS]).tolist() == [24 + 8]  # saturated blue


def test_opposite_edges_have_one_orientation():
    ramp = np.arange(SIZE, dtype=np.float32)
    across = np.broadcast_to(ramp, (1, SIZE, SIZE))
    assert set(edges(across)[0].ravel()) == set(edges(-across)[0].ravel()) == {0}
    assert set(edges(across.transpose(0, 2, 1))[0].ravel()) == {4}
    np.testing.assert_allclose(edges(across)[1], 1)


def test_features_of_a_film_are_the_same_bytes_at_any_number_of_threads(tmp_path):
    pytest.importorskip("av", reason="extra video is not installed")
    from crosstask.synthetic.films.corpus import render_corpus
    from crosstask.synthetic.films.scripts import TASKS

    render_corpus(tmp_path, seed=5, videos_per_task=1, test_videos_per_task=0, tasks=TASKS[:1])
    film = next(tmp_path.rglob("*.mp4"))
    code = (
        "import sys, numpy as np; from pathlib import Path; from crosstask.extraction.extract_video import extract_video; "
        "from crosstask.extraction.feature_spec import parse_feature_spec; assert 'torch' not in sys.modules; "
        "rows = extract_video(Path(sys.argv[1]), parse_feature_spec('light')); assert 'torch' not in sys.modules; "
        "sys.stdout.buffer.write(rows.tobytes())"
    )
    digests = set()
    for threads in ("1", "3"):
        env = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), threads)
        done = subprocess.run([sys.executable, "-c", code, str(film)], capture_output=True, check=True, env=env, timeout=300)
        digests.add(hashlib.sha256(done.stdout).hexdigest())
        assert len(done.stdout) % (4 * Light.width) == 0 and done.stdout
    assert len(digests) == 1
