import pickle

import numpy as np
import pytest

from crosstask.extraction.backbones.pickled_arrays import read_pickled_arrays
from crosstask.records import InputError


class Harmful:
    def __reduce__(self):
        import os

        return os.system, ("touch harmed",)


class Sneaky:
    """Uses only allowed names, but to create an object array."""

    def __reduce__(self):
        return np.dtype, ("O", False, True)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize(
    "content",
    [Harmful(), {"a": Harmful()}, {"a": Sneaky()}, {"a": np.array([Harmful()])}, {"a": print}, [1], {"a": 3}, {1: np.zeros(2)}],
)
def test_crafted_pickle_is_rejected_and_never_executed(tmp_path, monkeypatch, content, protocol):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "evil.ckpt"
    path.write_bytes(pickle.dumps(content, protocol=protocol))
    with pytest.raises(InputError, match=r"evil\.ckpt: refused: .*expected a dictionary of NumPy arrays only"):
        read_pickled_arrays(path)
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize("protocol", [3, 4])
def test_plain_arrays_are_read(tmp_path, protocol):
    arrays = {
        "a": {"b": np.arange(6, dtype=np.float32).reshape(2, 3), "c": np.asfortranarray(np.eye(3))},
        "d": np.zeros((0, 4), ">f4"),
    }
    path = tmp_path / "arrays.ckpt"
    path.write_bytes(pickle.dumps(arrays, protocol=protocol))
    found = read_pickled_arrays(path)
    np.testing.assert_array_equal(found["a"]["b"], arrays["a"]["b"])
    np.testing.assert_array_equal(found["a"]["c"], arrays["a"]["c"])
    assert found["d"].shape == (0, 4)


def test_random_damage_gives_arrays_or_an_input_error(tmp_path):
    data = np.frombuffer(pickle.dumps({"a": {"b": np.arange(50, dtype=np.float32)}}, protocol=4), np.uint8)
    rng = np.random.default_rng(0)
    for _ in range(300):
        broken = data.copy()
        broken[rng.integers(0, len(data), 3)] = rng.integers(0, 256, 3)
        (tmp_path / "x.ckpt").write_bytes(broken[: rng.integers(1, len(data) + 1)].tobytes())
        try:
            read_pickled_arrays(tmp_path / "x.ckpt")
        except InputError as error:
            assert str(error).startswith("x.ckpt: refused")
