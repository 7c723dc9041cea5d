import numpy as np
import pytest

from crosstask.features import LooseFeatures, pack_features, write_rows
from crosstask.features.pack import open_packed
from crosstask.records import InputError


def loose(folder, n_videos=7, n_dimensions=5):
    rng = np.random.default_rng(0)
    for i in range(n_videos):
        write_rows(folder / f"v{i}.npy", rng.standard_normal((3 + i, n_dimensions)).astype(np.float32))
    return LooseFeatures(folder)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_packed_rows_are_the_loose_ones(tmp_path, dtype):
    source = loose(tmp_path / "f")
    packed = pack_features(source, source, tmp_path / "p", dtype)
    for video in source:
        assert np.array_equal(packed.rows(video), source.rows(video).astype(dtype))
    assert packed.damaged() == []
    rows, first = packed.stack(["v3"])
    assert np.array_equal(rows[first["v3"] : first["v3"] + 6], source.rows("v3").astype(dtype))


def test_packing_again_leaves_it_alone_and_a_changed_file_is_noticed(tmp_path):
    source = loose(tmp_path / "f")
    pack_features(source, source, tmp_path / "p")
    before = (tmp_path / "p" / "rows.bin").stat().st_mtime_ns
    pack_features(source, source, tmp_path / "p")
    assert (tmp_path / "p" / "rows.bin").stat().st_mtime_ns == before
    write_rows(tmp_path / "f" / "v2.npy", np.zeros((9, 5), np.float32))
    assert open_packed(tmp_path / "p", source, source) is None
    again = pack_features(LooseFeatures(tmp_path / "f"), source, tmp_path / "p")
    assert again.length("v2") == 9


def test_an_interrupted_pack_goes_on_to_the_same_bytes(tmp_path, monkeypatch):
    source = loose(tmp_path / "f")
    pack_features(source, source, tmp_path / "whole")
    monkeypatch.setattr("crosstask.features.pack._FLUSH_EVERY_BYTES", 60)

    def stop_after_four(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pack_features(source, source, tmp_path / "p", progress=stop_after_four)
    assert not (tmp_path / "p" / "index.json").exists() and (tmp_path / "p" / "unfinished.json").exists()
    done = []
    pack_features(source, source, tmp_path / "p", progress=lambda n, total: done.append(n))
    assert done[0] > 1, "the videos that were safe are not packed again"
    for name in ("rows.bin", "index.json"):
        assert (tmp_path / "p" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("bad", "says"), [(np.nan, "NaN or infinite"), (np.inf, "NaN or infinite"), (1e6, "too large for float16")]
)
def test_numbers_that_are_none_are_refused_by_name(tmp_path, bad, says):
    source = loose(tmp_path / "f")
    rows = np.zeros((4, 5), np.float32)
    rows[2, 1] = bad
    write_rows(tmp_path / "f" / "v1.npy", rows)
    with pytest.raises(InputError, match=f"v1.npy: row 2, column 1 is {says}"):
        pack_features(source, source, tmp_path / "p")
    assert not (tmp_path / "p" / "index.json").exists()


def test_another_width_is_refused(tmp_path):
    source = loose(tmp_path / "f")
    write_rows(tmp_path / "f" / "v5.npy", np.zeros((4, 6), np.float32))
    with pytest.raises(InputError, match=r"v5.npy: 6 columns; the videos before it have 5"):
        pack_features(source, source, tmp_path / "p")


def test_a_flipped_bit_is_found(tmp_path):
    source = loose(tmp_path / "f")
    pack_features(source, source, tmp_path / "p")
    data = bytearray((tmp_path / "p" / "rows.bin").read_bytes())
    data[40] ^= 1
    (tmp_path / "p" / "rows.bin").write_bytes(data)
    packed = open_packed(tmp_path / "p", source, source)
    assert packed is not None and packed.damaged() == ["v1"]
