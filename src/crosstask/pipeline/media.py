"""The media file of each video of a corpus."""

import logging
from pathlib import Path

from crosstask.datasets.corpus_toml import VIDEO_EXTENSIONS, media_files
from crosstask.features import NpyFeatures
from crosstask.pipeline.unmatched_files import unmatched_files
from crosstask.records import Corpus, InputError, VideoKey, folded_name
from crosstask.storage import raise_if_disk_failed

log = logging.getLogger(__name__)


def media_of(corpus: Corpus) -> dict[VideoKey, Path]:
    """The file of each video that has one: `videos/TASK/VIDEO.mp4`, or anywhere under `videos/` in the published layout.

    There, hidden folders are not entered, as old versions lie in them, and of different files of one name none is taken.
    """
    if corpus.folder is None:
        return {}
    if (corpus.folder / "corpus.toml").exists():
        return {VideoKey(*key): path for key, path in media_files(corpus.folder, corpus.tasks).items()}
    place, named = corpus.folder / "videos", dict[str, list[Path]]()
    for path in sorted(place.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(place).parts)
        if path.suffix.lower() in VIDEO_EXTENSIONS and not hidden:
            named.setdefault(path.stem, []).append(path)
    found = {name: paths[0] for name in {video.id for video in corpus.videos} & named.keys() if _one_video(paths := named[name])}
    return {video.key: found[video.id] for video in corpus.videos if video.id in found}


def _one_video(paths: list[Path]) -> bool:
    """True if files of one name show the same; otherwise a warning says that none is used."""
    if other := next((path for path in paths[1:] if content_of(path) != content_of(paths[0])), None):
        log.warning("%s and %s are different files of one name, so that none is used; rename or remove one", paths[0], other)
    return other is None


def files_by_id(media: dict[VideoKey, Path]) -> tuple[dict[str, Path], dict[str, str]]:
    """The file of each video id, and why some ids have none: features are kept by id, so two videos may not share one."""
    from crosstask.extraction.content_hash import content_digest

    chosen: dict[str, tuple[str, Path]] = {}
    clashes: dict[str, str] = {}
    for key, path in sorted(media.items()):
        video, other = chosen.setdefault(folded_name(key.video), (key.video, path))
        try:
            same = video == key.video and (other == path or content_digest(other) == content_digest(path))
        except OSError:  # one of them cannot be read
            same = False
        if not same:
            clashes[video] = clashes[key.video] = (
                f"{path.parent.name}/{path.name} and {other.parent.name}/{other.name} are different videos of one name; rename one"
            )
    return {video: path for video, path in chosen.values() if video not in clashes}, clashes


def contents_of(corpus: Corpus) -> dict[VideoKey, str]:
    """The digest of the file of each video with features: of the file that they were extracted from or, for features of the user's own, of the video's.

    A file that could not be used, perhaps half copied, has no features and no digest.
    """
    from crosstask.extraction.extract_many import content_of_features

    if not isinstance(corpus.features, NpyFeatures):
        return {}
    media, found = media_of(corpus), {}
    for video in corpus.videos:
        if video.id in corpus.features:
            content = content_of_features(corpus.features.folder, video.id)
            if content is None and video.key in media:
                content = content_of(media[video.key])
            if content is not None:
                found[video.key] = content
    return found


def content_of(path: Path) -> str | None:
    """The digest of a file; None where it cannot be read."""
    from crosstask.extraction.content_hash import content_digest

    try:
        return content_digest(path)
    except OSError as error:
        raise_if_disk_failed(error)
        return None


def need_media(corpus: Corpus) -> dict[VideoKey, Path]:
    """The files of a corpus, or what is missing; files that belong to no task are named."""
    media = media_of(corpus)
    refuse_without(media, corpus)
    for line in _strays(corpus):
        log.warning("%s", line)
    return media


def refuse_without(media: dict[VideoKey, Path], corpus: Corpus) -> None:
    """An error for a corpus without a video, which says what lies there instead."""
    if not media:
        instead = next((line for line in _strays(corpus) if not line.startswith("task ")), "")
        found = f" ({instead})" if instead else ""
        raise InputError(f"corpus '{corpus.name}': no video files; expected videos/TASK/NAME.mp4 in {corpus.folder}{found}")


def _strays(corpus: Corpus) -> list[str]:
    own = corpus.folder is not None and (corpus.folder / "corpus.toml").exists()
    return unmatched_files(corpus.folder, corpus.tasks) if own and corpus.folder is not None else []
