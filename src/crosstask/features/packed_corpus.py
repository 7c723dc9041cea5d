"""A corpus whose features come from a pack, made when it is missing or old."""

from dataclasses import replace
from pathlib import Path

from crosstask.features.loose import LooseFeatures
from crosstask.features.pack import Progress, pack_features
from crosstask.records import Corpus, InputError
from crosstask.storing import derived_folder


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
    if not isinstance(corpus.features, LooseFeatures) or corpus.folder is None:
        return corpus
    videos = packable_videos(corpus)
    if not videos:
        return corpus
    return replace(corpus, features=pack_features(corpus.features, videos, pack_folder(corpus), progress=progress))
