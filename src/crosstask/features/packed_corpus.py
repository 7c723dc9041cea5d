"""A corpus whose features come from a pack, made when it is missing or old."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crosstask.features.npy_files import NpyFeatures
from crosstask.features.pack import NeedsFloat32, PackedFeatures, Progress, dtype_of_pack, pack_features
from crosstask.records import Corpus, InputError
from crosstask.storage import derived_folder

log = logging.getLogger(__name__)


def pack_folder(corpus: Corpus) -> Path:
    """Where the pack of a corpus lies."""
    if corpus.folder is None:
        raise InputError(f"corpus '{corpus.name}' lies in no folder; nothing to pack")
    return derived_folder(corpus.folder) / "pack"


def packable_videos(corpus: Corpus) -> list[str]:
    """The ids of listed videos that have features, sorted."""
    return sorted({video.id for video in corpus.videos if video.id in corpus.features})


def with_packed_features(corpus: Corpus, progress: Progress | None = None) -> Corpus:
    """The same corpus reading packed rows; a corpus whose features are not loose files is returned as it is."""
    if not isinstance(corpus.features, NpyFeatures) or corpus.folder is None:
        return corpus
    videos = packable_videos(corpus)
    if not videos:
        return corpus
    return replace(corpus, features=_packed(corpus.features, videos, pack_folder(corpus), progress))


def _packed(source: NpyFeatures, videos: Sequence[str], folder: Path, progress: Progress | None) -> PackedFeatures:
    """Packed as the user packed before; otherwise in float16, or in float32 where float16 would spoil the numbers."""
    dtype = dtype_of_pack(folder) or "float16"
    try:
        return pack_features(source, videos, folder, dtype, progress)
    except NeedsFloat32 as reason:
        log.warning("packing in float32, twice the size: %s", str(reason).removesuffix(": pack with --dtype float32"))
        return pack_features(source, videos, folder, "float32", progress)
