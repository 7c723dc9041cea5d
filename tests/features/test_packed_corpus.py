from dataclasses import replace

import numpy as np
import pytest

from crosstask.datasets.release import read_release
from crosstask.features import pack_features, write_rows
from crosstask.features.packed_corpus import pack_folder, packable_videos, with_packed_features
from crosstask.synthetic import write_synthetic
from crosstask.synthetic.settings import SHAPES
from tiny import write_tiny

SMALL = replace(
    SHAPES["demo"],
    primary_tasks=1,
    related_tasks=0,
    train_videos_per_task=2,
    test_videos_per_task=0,
    validation_videos_per_task=0,
)


@pytest.fixture
def folder(tmp_path):
    return write_synthetic(tmp_path, SMALL, "easy", n_dimensions=16)


def rewrite(folder, change):
    for path in (folder / "crosstask_features").glob("*.npy"):
        write_rows(path, change(np.load(path, allow_pickle=False).astype(np.float32)))


def test_dtype_of_an_existing_pack_is_kept(folder):
    corpus = read_release(folder)
    pack_features(corpus.features, packable_videos(corpus), pack_folder(corpus), "float32")
    assert with_packed_features(corpus).features.dtype == "float32"


@pytest.mark.parametrize(
    "change", [lambda rows: rows * 1e5, lambda rows: rows * 1e-7, lambda rows: rows + 3000], ids=["large", "tiny", "far from 0"]
)
def test_values_unsuitable_for_float16_are_packed_in_float32_with_a_warning(folder, change, caplog):
    rewrite(folder, change)
    corpus = read_release(folder)
    packed = with_packed_features(corpus).features
    assert packed.dtype == "float32"
    assert "packing in float32" in caplog.text
    for video in corpus.videos:
        np.testing.assert_array_equal(packed.rows(video.id), corpus.features.rows(video.id))


@pytest.mark.parametrize("end", ["repaired", "removed"])
def test_float32_is_kept_only_as_long_as_the_video_that_needs_it(tmp_path, end):
    """What is trained must not depend on what the files were earlier."""
    write_tiny(folder := tmp_path / "c")
    spoilt, other = sorted((folder / "crosstask_features").glob("*.npy"))[1:3]
    good, also_good = np.load(spoilt, allow_pickle=False), np.load(other, allow_pickle=False)
    write_rows(spoilt, good * 1e6)
    write_rows(other, also_good * 1e6)
    assert with_packed_features(read_release(folder)).features.dtype == "float32"
    for path, rows in ((spoilt, good), (other, also_good)):
        assert with_packed_features(read_release(folder)).features.dtype == "float32"
        path.unlink() if end == "removed" else write_rows(path, rows)
    assert with_packed_features(read_release(folder)).features.dtype == "float16"


def test_ordinary_features_are_packed_in_float16(folder, caplog):
    rewrite(folder, lambda rows: rows * 1.01)  # not exact in float16
    assert with_packed_features(read_release(folder)).features.dtype == "float16"
    assert not caplog.records


def test_a_lock_that_could_not_be_removed_goes_with_the_next_use(folder):
    corpus = read_release(folder)
    with_packed_features(corpus)
    left = pack_folder(corpus) / ".index.json.lock"
    left.write_text("4711\n")
    with_packed_features(corpus)
    assert not left.exists()


def test_features_that_were_deleted_are_not_used_from_the_pack(tmp_path):
    write_tiny(tmp_path)
    before = with_packed_features(read_release(tmp_path)).features
    (tmp_path / "crosstask_features" / "-v1_2.npy").unlink()
    after = with_packed_features(read_release(tmp_path)).features
    assert before.videos.keys() - after.videos.keys() == {"-v1_2"} and "-v1_2" not in after
    assert np.array_equal(after.rows("-v1_3"), before.rows("-v1_3"))
