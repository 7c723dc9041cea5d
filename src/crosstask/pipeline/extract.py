"""The videos of a corpus -> its folder of features, with speech features where the feature spec names them."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.datasets.corpus_toml import own_features
from crosstask.extraction.extract_many import (
    ExtractionReport,
    claim_folder,
    extract_videos,
    refuse_features_of_others,
    remove_features,
)
from crosstask.extraction.feature_spec import BackboneSpec, FeatureSpec, text_side_of
from crosstask.features import find_text_side, read_rows, write_rows, write_text_side
from crosstask.features.text_side_file import FILE_NAME as TEXT_SIDE_FILE
from crosstask.pipeline.media import files_by_id, need_media
from crosstask.records import Corpus, Narration
from crosstask.storage import derived_folder, nonblocking_lock, write_json
from crosstask.text.encoders import Encoder
from crosstask.text.encoders.image_text import text_vectors
from crosstask.text.encoders.speech import speech_features

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Workers:
    """How jobs run: an engine (`local` or `ray`), how many at once, and the address of a Ray cluster."""

    engine: str = "local"
    count: int = 1
    address: str | None = None


def features_folder(corpus: Corpus) -> Path:
    """Where features of a corpus go: `.crosstask/features`, or the published place when it is free or ours."""
    assert corpus.folder is not None
    published = corpus.folder / "crosstask_features"
    release = not (corpus.folder / "corpus.toml").exists()
    if release and (not published.exists() or (published / ".done").is_dir()):
        return published
    return derived_folder(corpus.folder, "features")


def extract_corpus(
    corpus: Corpus,
    spec: FeatureSpec,
    out: Path | None = None,
    workers: Workers | None = None,
    encoder: Encoder | None = None,
    advance: Callable[[], None] = lambda: None,
) -> tuple[ExtractionReport, Path]:
    """What became of each video of the corpus, and the folder of its features."""
    files, clashes = files_by_id(need_media(corpus))
    if out is not None:
        refuse_features_of_others(out, files, spec)
    elif corpus.folder is not None and (own := own_features(corpus.folder)) is not None:
        log.warning("%s: these features are used before the extracted ones; move the folder away to use those", own)
    folder = out or features_folder(corpus)
    names = sorted({step for task in corpus.tasks.values() for step in task.steps})
    result = extract_files(files, spec, folder, corpus.subtitles, workers or Workers(), encoder, advance, names)
    result.skipped |= clashes
    for video_id in clashes:
        remove_features(folder, video_id)
    return result, folder


def extract_files(
    files: Mapping[str, Path],
    spec: FeatureSpec,
    folder: Path,
    subtitles: Mapping[str, Narration],
    workers: Workers,
    encoder: Encoder | None,
    advance: Callable[[], None] = lambda: None,
    step_names: Sequence[str] = (),
) -> ExtractionReport:
    """What became of each video file; its features are in the folder, locked meanwhile.

    Features of an image-text model get a text side with the vectors of the step names.
    """
    with nonblocking_lock(folder):
        result = _extract_files(files, spec, folder, subtitles, workers, encoder, advance)
        store_text_side(folder, spec, step_names)
        return result


def store_text_side(folder: Path, spec: FeatureSpec, step_names: Sequence[str]) -> None:
    """Write the text side of a folder of features, keeping the names that it has; one of other features is removed."""
    side = text_side_of(spec)
    if side is None:
        (folder / TEXT_SIDE_FILE).unlink(missing_ok=True)
        return
    before = find_text_side(folder)
    if before is not None and before.model == side.model:
        side = replace(side, vectors=before.vectors)
    names = sorted({*side.vectors, *step_names})
    if names:
        side = replace(side, vectors=dict(zip(names, text_vectors(side, names), strict=True)))
    write_text_side(folder, side)


def _extract_files(
    files: Mapping[str, Path],
    spec: FeatureSpec,
    folder: Path,
    subtitles: Mapping[str, Narration],
    workers: Workers,
    encoder: Encoder | None,
    advance: Callable[[], None],
) -> ExtractionReport:
    how: dict[str, Any] = {"engine": workers.engine, "workers": workers.count, "address": workers.address, "advance": advance}
    if not spec.speech:
        return extract_videos(files, spec, folder, **how)
    seen = replace(
        spec, backbones=spec.backbones or (BackboneSpec("log-mel"),), speech=False
    )  # without pictures, log-mel counts the seconds
    result = extract_videos(files, seen, folder / ".seen", **how)
    claim_folder(folder, spec)
    for video_id in result.skipped:
        remove_features(folder, video_id)
    for video_id in sorted([*result.done, *result.reused]):
        rows = np.asarray(read_rows(folder / ".seen" / f"{video_id}.npy"))
        narration = subtitles[video_id] if video_id in subtitles else Narration(())
        assert encoder is not None, "a feature spec with speech needs an encoder"
        spoken = speech_features(narration, len(rows), encoder)
        write_rows(folder / f"{video_id}.npy", np.concatenate([rows, spoken] if spec.backbones else [spoken], axis=1))
        write_json(folder / ".done" / f"{video_id}.json", {"speech": video_id in subtitles})
    return result
