import numpy as np
import pytest

from crosstask.sources.planted.filming import filmed


def in_six_passes(grain, seen, offset, scale):
    rows = grain + seen
    rows += offset
    np.maximum(rows, 0, out=rows)
    rows *= scale
    with np.errstate(over="ignore"):
        return rows.astype(np.float16)


def every_kind_of_number():
    """float32 on, between and just beside float16 numbers: subnormal, normal, large, below zero."""
    halves = np.arange(0x7BFF, dtype=np.uint16)
    on = halves.view(np.float16).astype(np.float32)
    between = (on + (halves + np.uint16(1)).view(np.float16).astype(np.float32)) / 2  # ties
    beside = [np.nextafter(between, np.float32(way)) for way in (0, np.inf)]
    return np.concatenate([on, between, *beside, -on]).astype(np.float32)[None]


@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_one_pass_gives_the_bits_of_six(scale):
    x = every_kind_of_number()
    none, scales = np.zeros(x.shape[1], np.float32), np.full(x.shape[1], scale, np.float32)
    expected = in_six_passes(np.zeros_like(x), x, none, scales)
    assert filmed(np.zeros_like(x), x, none, scales).tobytes() == expected.tobytes()


def test_sums_are_rounded_one_after_another():
    rng = np.random.default_rng(0)
    grain, seen = rng.standard_normal((2, 300, 65), dtype=np.float32)
    offset, scale = rng.standard_normal((2, 65), dtype=np.float32)
    expected = in_six_passes(grain.copy(), seen, offset, np.abs(scale))
    assert filmed(grain.copy(), seen, offset, np.abs(scale)).tobytes() == expected.tobytes()


def test_what_is_too_large_for_a_float16_is_infinite():
    x = np.array([[65519, 65520, 1e9]], np.float32)
    one = np.ones(3, np.float32)
    with np.errstate(over="ignore"):
        assert filmed(np.zeros_like(x), x, np.zeros(3, np.float32), one).tolist() == [[65504.0, np.inf, np.inf]]
