"""A corpus that reads its features from a pack, which is created if missing or out of date."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crosstask.features.npy_files import NpyFeatures
from crosstask.features.pack import NeedsFloat32, dtype_of_pack, open_packed, pack_features, remove_stale_files
from crosstask.features.pack_index import PackedFeatures
from crosstask.records import Corpus, InputError, Progress, no_progress
from crosstask.storage import derived_folder

log = logging.getLogger(__name__)


def pack_folder(corpus: Corpus) -> Path:
    """Folder of the pack of a corpus."""
    if corpus.folder is None:
        raise InputError(f"corpus '{corpus.name}' has no folder; only a corpus on disk can be packed")
    return derived_folder(corpus.folder, "pack")


def packable_videos(corpus: Corpus) -> list[str]:
    """Ids of the listed videos that have features, sorted."""
    return sorted({video.id for video in corpus.videos if video.id in corpus.features})


def with_packed_features(corpus: Corpus, progress: Progress = no_progress) -> Corpus:
    """The same corpus with packed features; unchanged if its features are not `.npy` files."""
    if not isinstance(corpus.features, NpyFeatures) or corpus.folder is None:
        return corpus
    videos = packable_videos(corpus)
    if not videos:
        return corpus
    packed = _packed(corpus.features, videos, pack_folder(corpus), progress)
    # Without those whose feature file was deleted, which the pack still has.
    return replace(corpus, features=replace(packed, videos={video_id: packed.videos[video_id] for video_id in videos}))


def _packed(source: NpyFeatures, videos: Sequence[str], folder: Path, progress: Progress) -> PackedFeatures:
    """The pack, in the dtype of an existing pack; otherwise float16, or float32 if float16 is too coarse."""
    dtype = dtype_of_pack(folder, source, videos) or "float16"
    try:
        return _packing(source, videos, folder, dtype, progress)
    except NeedsFloat32 as reason:
        log.warning("packing in float32, twice the size: %s", str(reason).removesuffix(": pack with --dtype float32"))
        return _packing(source, videos, folder, "float32", progress, reason.video_id)


def _packing(
    source: NpyFeatures, videos: Sequence[str], folder: Path, dtype: str, progress: Progress, needs_float32: str = ""
) -> PackedFeatures:
    """The pack; progress is shown only if something must be packed."""
    if (current := open_packed(folder, source, videos, dtype)) is not None:
        remove_stale_files(current)
        return current
    with progress("packing features", len(videos)) as advance:
        return pack_features(source, videos, folder, dtype, lambda done, total: advance(), needs_float32)
