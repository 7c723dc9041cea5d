import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from crosstask.features import NpyFeatures, pack, pack_features, write_rows
from crosstask.features.pack import open_packed
from crosstask.features.pack_index import read_index
from crosstask.records import InputError
from crosstask.storage import arrays


def write_npy_features(folder, n_videos=7, n_dimensions=5):
    rng = np.random.default_rng(0)
    for i in range(n_videos):
        write_rows(folder / f"v{i}.npy", rng.standard_normal((3 + i, n_dimensions)).astype(np.float32))
    return NpyFeatures(folder)


def rows_file(folder):
    (found,) = folder.glob("*.bin")
    return found


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_packed_rows_equal_their_source(tmp_path, dtype):
    source = write_npy_features(tmp_path / "f")
    packed = pack_features(source, source, tmp_path / "p", dtype)
    for video in source:
        assert np.array_equal(packed.rows(video), source.rows(video).astype(dtype))
    assert packed.damaged() == []
    rows, first = packed.stack(["v3"])
    assert np.array_equal(rows[first["v3"] : first["v3"] + 6], source.rows("v3").astype(dtype))


def test_current_pack_is_reused_and_changed_source_is_detected(tmp_path):
    source = write_npy_features(tmp_path / "f")
    pack_features(source, source, tmp_path / "p")
    before = rows_file(tmp_path / "p").stat().st_mtime_ns
    pack_features(source, source, tmp_path / "p")
    assert rows_file(tmp_path / "p").stat().st_mtime_ns == before
    write_rows(tmp_path / "f" / "v2.npy", np.zeros((9, 5), np.float32))
    assert open_packed(tmp_path / "p", source, source) is None
    again = pack_features(NpyFeatures(tmp_path / "f"), source, tmp_path / "p")
    assert again.length("v2") == 9


def test_another_file_of_the_same_size_and_modification_time_is_packed_again(tmp_path):
    source, folder = write_npy_features(tmp_path / "f"), tmp_path / "p"
    pack_features(source, source, folder)
    path, other = source.path("v3"), source.rows("v3")[::-1].copy()
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    write_rows(path, other)
    os.utime(path, ns=times)
    assert open_packed(folder, source, source) is None
    packed = pack_features(source, source, folder)
    assert np.array_equal(packed.rows("v3"), other.astype(np.float16))
    assert open_packed(folder, source, source) is not None


def test_a_copy_of_a_file_with_its_modification_time_is_not_packed_again(tmp_path):
    source, folder = write_npy_features(tmp_path / "f"), tmp_path / "p"
    before = pack_features(source, source, folder)
    copied = NpyFeatures(shutil.copytree(tmp_path / "f", tmp_path / "copy"))
    after = pack_features(copied, copied, folder)
    assert after.parts == before.parts and open_packed(folder, copied, copied) is not None


def test_pack_of_files_from_before_1970_is_reused(tmp_path):
    source = write_npy_features(tmp_path / "f")
    os.utime(tmp_path / "f" / "v0.npy", (-1e9, -1e9))
    pack_features(source, source, tmp_path / "p")
    assert open_packed(tmp_path / "p", source, source) is not None


def test_interrupted_packing_resumes_to_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(pack, "_PART_BYTES", 60)
    source = write_npy_features(tmp_path / "f")
    pack_features(source, source, tmp_path / "whole")

    def stop_after_four(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pack_features(source, source, tmp_path / "p", progress=stop_after_four)
    assert (tmp_path / "p" / "unfinished.bin").exists() and open_packed(tmp_path / "p", source, source) is None
    done = []
    pack_features(source, source, tmp_path / "p", progress=lambda n, total: done.append(n))
    assert done[0] > 1, "videos already flushed are not packed again"
    assert contents(tmp_path / "p") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("bad", "message"), [(np.nan, "NaN or infinite"), (np.inf, "NaN or infinite"), (1e6, "too large for float16")]
)
def test_nonfinite_values_are_rejected_by_name(tmp_path, bad, message):
    source = write_npy_features(tmp_path / "f")
    rows = np.zeros((4, 5), np.float32)
    rows[2, 1] = bad
    write_rows(tmp_path / "f" / "v1.npy", rows)
    with pytest.raises(InputError, match=f"v1.npy: row 2, column 1 is {message}"):
        pack_features(source, source, tmp_path / "p")
    assert not (tmp_path / "p" / "index.json").exists()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_values_beyond_float32_are_not_advised_to_be_packed_as_float32(tmp_path, dtype):
    source = write_npy_features(tmp_path / "f")
    rows = np.zeros((4, 5))
    rows[2, 1] = -1e300
    write_rows(tmp_path / "f" / "v1.npy", rows)
    with pytest.raises(InputError, match=r"v1.npy: row 2, column 1 is -1e\+300, too large for float32: scale"):
        pack_features(source, source, tmp_path / "p", dtype)


def test_different_number_of_columns_is_rejected(tmp_path):
    source = write_npy_features(tmp_path / "f")
    write_rows(tmp_path / "f" / "v5.npy", np.zeros((4, 6), np.float32))
    with pytest.raises(InputError, match=r"v5.npy: 6 columns; the videos before it have 5"):
        pack_features(source, source, tmp_path / "p")


def test_flipped_bit_is_found(tmp_path):
    source = write_npy_features(tmp_path / "f")
    pack_features(source, source, tmp_path / "p")
    data = bytearray(rows_file(tmp_path / "p").read_bytes())
    data[40] ^= 1
    rows_file(tmp_path / "p").write_bytes(data)
    packed = open_packed(tmp_path / "p", source, source)
    assert packed is not None and packed.damaged() == ["v1"]


def test_source_changed_during_packing_is_detected(tmp_path, monkeypatch):
    source = write_npy_features(tmp_path / "f")
    as_packed = pack.as_packed

    def change_meanwhile(rows, dtype, video_id):
        if video_id == "v2":
            os.utime(source.path("v2"), ns=(1, 1))
        return as_packed(rows, dtype, video_id)

    monkeypatch.setattr(pack, "as_packed", change_meanwhile)
    pack_features(source, source, tmp_path / "p")
    assert open_packed(tmp_path / "p", source, [video for video in source if video != "v2"]) is not None
    assert open_packed(tmp_path / "p", source, source) is None


def test_open_pack_keeps_its_rows_when_repacked(tmp_path):
    source = write_npy_features(tmp_path / "f")
    opened = pack_features(source, source, tmp_path / "p")
    before = opened.rows("v6").copy()
    for i in range(7):
        write_rows(tmp_path / "f" / f"v{i}.npy", np.full((2, 5), i, np.float32))
    again = pack_features(NpyFeatures(tmp_path / "f"), source, tmp_path / "p")
    assert np.array_equal(opened.rows("v6"), before)
    assert again.rows("v6").tolist() == [[6.0] * 5] * 2
    assert sorted(path.name for path in (tmp_path / "p").iterdir()) == ["index.json", again.parts[0].rows]


@pytest.mark.parametrize("n_bytes", [0, 7, 10_000])
def test_rows_file_of_wrong_size_is_packed_again(tmp_path, n_bytes):
    source = write_npy_features(tmp_path / "f")
    pack_features(source, source, tmp_path / "p")
    whole = contents(tmp_path / "p")
    rows_file(tmp_path / "p").write_bytes(b"\1" * n_bytes)
    assert open_packed(tmp_path / "p", source, source) is None
    pack_features(source, source, tmp_path / "p")
    assert contents(tmp_path / "p") == whole


def test_parts_of_bounded_size_are_one_array(tmp_path, monkeypatch):
    monkeypatch.setattr(pack, "_PART_BYTES", 5000)
    source = write_npy_features(tmp_path / "f", n_videos=60, n_dimensions=7)
    packed = pack_features(source, source, tmp_path / "p")
    sizes = [(tmp_path / "p" / part.rows).stat().st_size for part in packed.parts]
    assert len(sizes) > 3 and all(5000 <= size < 5000 + 62 * 14 for size in sizes[:-1])
    rows, first = packed.stack(list(source))
    for video in source:
        expected = source.rows(video).astype(np.float16)
        assert np.array_equal(rows[first[video] : first[video] + len(expected)], expected)
        assert np.array_equal(packed.rows(video), expected)
    assert not rows.flags.writeable and packed.damaged() == [] and rows.dtype == np.float16
    kept = packed.rows("v7")
    del packed, rows  # a view keeps the mapping
    assert np.array_equal(kept, source.rows("v7").astype(np.float16))


def test_added_videos_are_appended_and_the_old_rows_stay_as_they_are(tmp_path):
    source = write_npy_features(tmp_path / "f")
    before = pack_features(source, source, tmp_path / "p")
    (written,) = before.parts
    write_rows(tmp_path / "f" / "a0.npy", np.full((4, 5), 2, np.float32))
    source, packed = NpyFeatures(tmp_path / "f"), []
    after = pack_features(source, source, tmp_path / "p", progress=lambda done, total: packed.append((done, total)))
    assert packed == [(8, 8)] and after.parts[0] == written and len(after.parts) == 2
    for video in source:
        assert np.array_equal(after.rows(video), source.rows(video).astype(np.float16))
    opened = open_packed(tmp_path / "p", source, source)
    assert opened == after and open_packed(tmp_path / "p", source, ["v1"]) == after


def test_a_changed_video_is_appended_and_much_waste_is_packed_anew(tmp_path):
    source = write_npy_features(tmp_path / "f")
    pack_features(source, source, tmp_path / "p")
    write_rows(tmp_path / "f" / "v2.npy", np.ones((9, 5), np.float32))
    again = pack_features(NpyFeatures(tmp_path / "f"), source, tmp_path / "p")
    assert len(again.parts) == 2 and again.rows("v2").tolist() == [[1.0] * 5] * 9 and again.damaged() == []
    for i in range(3, 7):
        write_rows(tmp_path / "f" / f"v{i}.npy", np.ones((9, 5), np.float32))
    anew = pack_features(NpyFeatures(tmp_path / "f"), source, tmp_path / "p")
    assert len(anew.parts) == 1 and anew.n_bytes == anew.shape[0] * anew.row_bytes
    assert sorted(path.name for path in (tmp_path / "p").iterdir()) == ["index.json", anew.parts[0].rows]


def test_many_small_parts_are_packed_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(pack, "_MOST_SMALL_PARTS", 1)
    source = write_npy_features(tmp_path / "f")
    n_parts = [len(pack_features(source, sorted(source)[:n], tmp_path / "p").parts) for n in range(1, 6)]
    assert n_parts == [1, 2, 1, 2, 1]


def test_a_pack_of_one_file_from_an_earlier_version_opens_and_grows(tmp_path):
    source = write_npy_features(tmp_path / "f")
    packed = pack_features(source, source, tmp_path / "p")
    index = json.loads((tmp_path / "p" / "index.json").read_text())
    videos = [{name: value for name, value in video.items() if name != "part"} for video in index["videos"]]
    old = {"format": 2, "dtype": "float16", "n_dimensions": 5, "rows": index["parts"][0]["rows"], "videos": videos}
    (tmp_path / "p" / "index.json").write_text(json.dumps(old))
    assert open_packed(tmp_path / "p", source, source) == packed
    write_rows(tmp_path / "f" / "v9.npy", np.ones((2, 5), np.float32))
    source = NpyFeatures(tmp_path / "f")
    grown = pack_features(source, source, tmp_path / "p")
    assert grown.parts[0] == packed.parts[0] and grown.rows("v9").tolist() == [[1.0] * 5] * 2 and grown.damaged() == []


@pytest.mark.parametrize(
    "changes",
    [
        {"part": 1},
        {"part": -1},
        {"first_row": 1},  # into the rows of the next video
        {"n_rows": 0},
        {"n_rows": 10**9},
        {"id": 3},
        {"crc32": "1"},
    ],
)
def test_an_index_that_contradicts_itself_is_not_used(tmp_path, changes):
    source = write_npy_features(tmp_path / "f")
    pack_features(source, source, tmp_path / "p")
    index = json.loads((tmp_path / "p" / "index.json").read_text())
    index["videos"][0] |= changes
    (tmp_path / "p" / "index.json").write_text(json.dumps(index))
    assert read_index(tmp_path / "p" / "index.json") is None
    assert pack_features(source, source, tmp_path / "p").damaged() == []


def test_concurrent_packing_leaves_one_pack(tmp_path):
    source = write_npy_features(tmp_path / "f", n_videos=40)
    pack_features(source, source, tmp_path / "whole")
    with ThreadPoolExecutor(4) as pool:
        packs = list(pool.map(lambda _: pack_features(source, source, tmp_path / "p"), range(8)))
    assert contents(tmp_path / "p") == contents(tmp_path / "whole")
    assert all(pack.damaged() == [] for pack in packs)


SHRINKING = """
import sys
from pathlib import Path
import numpy as np
from crosstask.features import NpyFeatures, pack, pack_features, write_rows
from crosstask.records import InputError
folder = Path(sys.argv[1])
write_rows(folder / "f" / "a.npy", np.ones((4000, 64), np.float32))
convert = pack.as_packed

def truncate_first(rows, dtype, video_id):
    with (folder / "f" / "a.npy").open("r+b") as file:
        file.truncate(500)
    return convert(rows, dtype, video_id)

pack.as_packed = truncate_first
try:
    pack_features(NpyFeatures(folder / "f"), ["a"], folder / "p")
except InputError as error:
    print(error)
"""


def test_a_file_that_shrinks_while_it_is_packed_does_not_end_the_process(tmp_path):
    done = subprocess.run([sys.executable, "-c", SHRINKING, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_a_file_that_shrinks_while_it_is_read_is_an_input_error(tmp_path, monkeypatch):
    write_rows(tmp_path / "f" / "a.npy", np.ones((4000, 64), np.float32))
    read = arrays.read_array

    def truncate_first(file, header):
        os.truncate(tmp_path / "f" / "a.npy", 500)
        return read(file, header)

    monkeypatch.setattr(arrays, "read_array", truncate_first)
    with pytest.raises(InputError, match=r"a\.npy: truncated while it was read"):
        pack_features(NpyFeatures(tmp_path / "f"), ["a"], tmp_path / "p")
