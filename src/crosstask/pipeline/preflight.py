"""Checks before a run, so that a run does not fail after hours, and warnings about what a run cannot use."""

import logging
import os
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from crosstask.datasets.corpus_toml import own_features
from crosstask.extraction.containers import probe
from crosstask.extraction.content_hash import content_digest
from crosstask.extraction.extract_many import content_of_features
from crosstask.features import NpyFeatures, read_feature_spec
from crosstask.pipeline.media import media_of, refuse_without
from crosstask.pipeline.transcribe import raise_if_no_speech_model
from crosstask.records import TOLERATED_OVERSHOOT_S, Corpus, InputError, Video, VideoKey
from crosstask.runs import refuse_place_of_run
from crosstask.storage import existing_derived_folder, raise_if_disk_failed, writing_process

log = logging.getLogger(__name__)
ENOUGH_VIDEOS = 10  # of a task; with fewer, steps were hardly found better than by even spacing
_NAMED = 10  # videos that are listed one by one
_OTHER_RATE = 1.5  # ours: another rate is at least twice or half of one row a second; durations in headers are a little wrong


def check_before_run(corpus: Corpus, out: Path, speech_model: Path | None) -> None:
    """An error where there is neither a video nor a feature file, no speech model, an annotation that cannot be read, or no place for the run."""
    if not has_own_features(corpus):
        refuse_without(media_of(corpus), corpus)
    raise_if_no_speech_model(speech_model)
    refuse_place_of_run(out)  # before a lock makes it
    for video in corpus.videos:
        corpus.annotations.get(video.key)  # the report, made last, needs them all
    folder = next((place for place in (out, *out.parents) if place.exists()), out.parent)
    if folder.exists() and not os.access(folder, os.W_OK):
        raise InputError(f"{folder}: cannot be written; choose a place for the run: --out FOLDER")


def check_own_features(corpus: Corpus, wanted: str | None) -> None:
    """An error where the user's folder of features has others than those that are wanted, or some that were extracted from other files."""
    own = None if corpus.folder is None else own_features(corpus.folder)
    if own is None:
        return
    spec = read_feature_spec(own)
    if wanted is not None and spec != wanted:
        there = "features made elsewhere" if spec == "unknown" else f"features '{spec}'"
        raise InputError(f"{own}: holds {there}, not '{wanted}'; leave out --features, or move the folder away")
    refuse_outdated_features(corpus)
    for file, reason in list(features_of_another_rate(corpus).items())[:_NAMED]:
        log.warning("%s: %s", file, reason)


def features_of_another_rate(corpus: Corpus) -> dict[str, str]:
    """Feature file -> what is wrong, of features made elsewhere whose number of rows is far from the seconds of the video file."""
    features, found = corpus.features, dict[str, str]()
    for key, path in sorted(media_of(corpus).items() if isinstance(features, NpyFeatures) else ()):
        assert isinstance(features, NpyFeatures)
        if key.video not in features or content_of_features(features.folder, key.video) is not None:
            continue
        try:
            n_rows, seconds = features.length(key.video), probe(path).duration_s  # 0 where the header does not say
        except InputError:  # a file that cannot be read is named elsewhere
            continue
        if seconds and max(n_rows, seconds) > _OTHER_RATE * min(n_rows, seconds) + TOLERATED_OVERSHOOT_S:
            found[f"{features.folder.name}/{key.video}.npy"] = (
                f"{n_rows} rows for a video of {seconds:.0f} s; expected one row a second: `crosstask corpus convert IN OUT --rate N`"
            )
    return found


def refuse_outdated_features(corpus: Corpus) -> None:
    """An error where features were extracted from another file than the one that the video has now, or are being extracted."""
    folder = corpus.features.folder if isinstance(corpus.features, NpyFeatures) else None
    if (
        folder is not None
        and corpus.folder is not None
        and (process := writing_process(existing_derived_folder(corpus.folder, "")))
    ):
        raise InputError(f"{corpus.folder}: process {process} extracts features of it, or runs on it; wait until that has ended")
    for key, path in sorted(media_of(corpus).items() if folder is not None else ()):
        assert folder is not None
        try:
            made_from = content_of_features(folder, key.video)
            replaced = made_from is not None and key.video in corpus.features and made_from != content_digest(path)
        except OSError as error:  # its features do not need the file
            raise_if_disk_failed(error)
            continue
        if replaced:
            out = ["--out", str(folder)] if corpus.folder is not None and folder == own_features(corpus.folder) else []
            repeat = shlex.join(["crosstask", "extract", str(corpus.folder), "--features", corpus.feature_spec, *out])
            raise InputError(f"{folder / key.video}.npy: extracted from another file than {path.name} is now; repeat `{repeat}`")


def has_own_features(corpus: Corpus) -> bool:
    """True if the user's folder holds features of its videos, so that no video files are needed."""
    own = corpus.folder is not None and any((corpus.folder / name).is_dir() for name in ("features", "crosstask_features"))
    return own and any(video.id in corpus.features for video in corpus.videos)


def raise_if_no_features(corpus: Corpus, skipped: Mapping[str, str]) -> None:
    """An error where every video was skipped, with the first reason."""
    if any(video.id in corpus.features for video in corpus.videos):
        return
    reason = skipped[min(skipped)] if skipped else "no reason is known"
    more = f"; and {len(skipped) - 1} more" if len(skipped) > 1 else ""
    raise InputError(f"corpus '{corpus.name}': no features could be extracted from any video: {reason}{more}")


def warn_about_unusable_subtitles(unusable: Mapping[VideoKey, str]) -> None:
    """A warning for each of the first videos whose subtitles cannot be used, and the number of the others."""
    for key, reason in sorted(unusable.items())[:_NAMED]:
        log.warning("%s: its subtitles are not used: %s", key, reason)
    if len(unusable) > _NAMED:
        log.warning("and the subtitles of %d more videos are not used", len(unusable) - _NAMED)


def warn_about_few_videos(videos: Iterable[Video], out: Path) -> None:
    """A warning where tasks have fewer than `ENOUGH_VIDEOS` training videos, with what helps at the least cost."""
    counts = Counter(video.task for video in videos)
    few = sorted(count for count in counts.values() if count < ENOUGH_VIDEOS)
    if not few:
        return
    number = f"{few[0]}" if few[0] == few[-1] else f"{few[0]} to {few[-1]}"
    which = "" if len(few) == len(counts) else f" in {len(few)} of {len(counts)} tasks"
    log.warning(
        "%s %s a task%s: expect little more than even spacing. Mark five moments with `%s`, or add videos: %d are a start.",
        number,
        "video" if number == "1" else "videos",
        which,
        shlex.join(["crosstask", "review", str(out)]),
        ENOUGH_VIDEOS,
    )
