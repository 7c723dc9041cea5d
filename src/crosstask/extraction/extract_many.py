"""Features of many videos, one job per video; finished videos are reused, unusable ones are skipped with a reason.

FOLDER/VIDEO.npy         (T, D) float32
FOLDER/feature_spec.txt  the feature spec; models refuse features of another spec (read from recipe.txt of earlier versions too)
FOLDER/columns.txt       meaning of the columns
FOLDER/.done/VIDEO.json  record of the finished job, with the digest of the video's content
"""

import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.extraction.backbones import WITHOUT_TORCH
from crosstask.extraction.backbones.protocol import need_torch
from crosstask.extraction.containers import need_pyav
from crosstask.extraction.content_hash import content_digest
from crosstask.extraction.extract_video import extract_video
from crosstask.extraction.feature_spec import BackboneSpec, FeatureSpec, columns_text, load_backbones
from crosstask.extraction.second import SAMPLE_RATE, Second
from crosstask.features import find_feature_spec, read_rows, write_feature_spec, write_rows
from crosstask.features.spec_file import FILE_NAME as SPEC_FILE_NAME
from crosstask.features.text_side_file import FILE_NAME as TEXT_SIDE_FILE_NAME
from crosstask.jobs import Job, finished_result, run_all
from crosstask.records import InputError, MissingExtra
from crosstask.storage import digest_of, raise_if_disk_failed, read_text, refuse_link_out, write_text

COLUMNS_FILE_NAME = "columns.txt"


@dataclass
class ExtractionReport:
    """Ids of the videos extracted and reused, and the reason for each skipped one."""

    done: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Counts, and the reason for each skipped video."""
        return {"done": len(self.done), "reused": len(self.reused), "skipped": dict(sorted(self.skipped.items()))}


def extract_videos(
    videos: Mapping[str, Path],
    spec: FeatureSpec,
    folder: Path,
    engine: str = "local",
    workers: int = 1,
    advance: Callable[[], None] = lambda: None,
    address: str | None = None,
) -> ExtractionReport:
    """Extract features of videos (id -> path) into a folder; videos extracted before from the same content are reused."""
    check_backbones(spec)
    claim_folder(folder, spec)
    result = ExtractionReport()
    jobs = _jobs(videos, spec, folder, result, advance)
    work = partial(extract_job, folder=str(folder.absolute()), backbones=[vars(backbone) for backbone in spec.backbones])
    try:
        outcomes = run_all(work, jobs, folder / ".done", engine, workers, advance, address)
    except BrokenProcessPool:
        outcomes = [_run_isolated(work, job, folder) for job in jobs]
    for job, outcome in zip(jobs, outcomes, strict=True):
        if "skipped" in outcome:
            result.skipped[job.name] = outcome["skipped"]
        elif job.name not in result.reused:
            result.done.append(job.name)
    return result


def _jobs(
    videos: Mapping[str, Path], spec: FeatureSpec, folder: Path, result: ExtractionReport, advance: Callable[[], None]
) -> list[Job]:
    """The jobs of all readable videos, sorted by id; unreadable and reused videos are noted in `result`."""
    jobs = []
    for video_id, path in sorted(videos.items()):
        try:
            digest = content_digest(path)
        except OSError as error:
            raise_if_disk_failed(error)
            result.skipped[video_id] = f"{path.name}: cannot be read ({error.strerror}); expected a video file"
            remove_features(folder, video_id)
            advance()
            continue
        # The keys are those of earlier versions, so that their records still match.
        job = Job(video_id, {"id": video_id, "video": os.path.relpath(path, folder), "stamp": digest, "recipe": str(spec)})
        if _is_done(folder, job):
            result.reused.append(video_id)
        jobs.append(job)
    return jobs


def _run_isolated(work: Callable[[Mapping[str, Any]], Any], job: Job, folder: Path) -> Any:
    """The outcome of a job in a process of its own, after a worker died: this finds the video that kills its worker."""
    try:
        return run_all(work, [job], folder / ".done", workers=2)[0]
    except BrokenProcessPool:
        name = Path(job.values["video"]).name
        return {"skipped": f"{name}: extracting it ends the process; damaged, or too large for the memory here: convert it again"}


def extract_job(values: Mapping[str, Any], folder: str, backbones: list[dict[str, Any]]) -> dict[str, Any]:
    """Extract and write the features of one video; returns their shape, or the reason for skipping it."""
    path = Path(os.path.normpath(Path(folder) / values["video"]))
    try:
        rows = extract_video(path, FeatureSpec(tuple(BackboneSpec(**backbone) for backbone in backbones)))
        changed = content_digest(path) != values["stamp"]
    except MissingExtra:
        raise
    except InputError as error:
        return {"skipped": str(error)}
    except OSError as error:
        raise_if_disk_failed(error)
        return {"skipped": f"{path.name}: cannot be read ({error.strerror}); expected a video file"}
    if changed:
        return {"skipped": f"{path.name}: changed while it was read; repeat the command when it is complete"}
    write_rows(Path(folder) / f"{values['id']}.npy", rows)
    return {"shape": list(rows.shape), "sha256": digest_of({"rows": rows})}


def _is_done(folder: Path, job: Job) -> bool:
    """True if the features match their record; otherwise both are removed, so that the video is extracted again."""
    outcome = finished_result(folder / ".done", job)
    if outcome is not None and _match(folder / f"{job.name}.npy", outcome):
        return True
    remove_features(folder, job.name)
    return False


def _match(path: Path, record: Mapping[str, Any]) -> bool:
    """True if the features are those that were extracted; of records of earlier versions, which have no checksum, the shape is compared."""
    try:
        rows = read_rows(path)
    except InputError:
        return False
    return list(rows.shape) == record.get("shape") and record.get("sha256") in (None, digest_of({"rows": rows}))


def content_of_features(folder: Path, video_id: str) -> str | None:
    """The digest of the video file from which features were extracted; None where that is not known."""
    return _origin_of_features(folder, video_id)[1]


def _origin_of_features(folder: Path, video_id: str) -> tuple[Path | None, str | None]:
    """The video file from which features were extracted, and its digest then; None where that is not known."""
    for place in (folder, folder / ".seen"):
        try:
            values = json.loads(read_text(place / ".done" / f"{video_id}.json", "utf-8"))["values"]
            file, digest = values["video"], values["stamp"]
        except OSError as error:
            raise_if_disk_failed(error)
        except (ValueError, KeyError, TypeError, RecursionError):  # with speech, the record of the pictures has it
            continue
        else:
            known = isinstance(file, str) and isinstance(digest, str)
            return (Path(os.path.normpath(place.absolute() / file)), digest) if known else (None, None)
    return None, None


def refuse_features_of_others(folder: Path, videos: Mapping[str, Path], spec: FeatureSpec) -> None:
    """An error where files in a folder that the user chose, features of other videos too, would be removed or overwritten."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: a file; expected a folder for the features, new or old")
    found = find_feature_spec(folder)
    if found is None and (theirs := [name for name in (COLUMNS_FILE_NAME, TEXT_SIDE_FILE_NAME) if (folder / name).exists()]):
        raise InputError(f"{folder}/{theirs[0]}: would be overwritten, and was not made by `extract`; choose another --out")
    others = sorted({record.stem for record in (folder / ".done").glob("*.json")} - videos.keys())
    if found is not None and found != str(spec) and others:
        raise InputError(
            f"{folder}: holds features '{found}' of other videos, such as {others[0]}, which would be removed; choose another --out"
        )
    for video_id, path in sorted(videos.items()):
        before, digest = _origin_of_features(folder, video_id)
        try:
            same = before is None or (before.is_file() and before.samefile(path))
            other = not same and digest != content_digest(path)
        except OSError as error:  # extraction says why it cannot be read
            raise_if_disk_failed(error)
            continue
        if other:
            raise InputError(
                f"{folder}/{video_id}.npy: holds the features of {before}, another video of that name; choose another --out"
            )


def remove_features(folder: Path, video_id: str) -> None:
    """Remove the features and the record of a video whose content has changed; features without a record, made elsewhere, are kept."""
    record = folder / ".done" / f"{video_id}.json"
    if record.exists():
        (folder / f"{video_id}.npy").unlink(missing_ok=True)
        record.unlink()


def check_backbones(spec: FeatureSpec) -> None:
    """Raise an error before any video is read if an extra is missing or weights do not fit."""
    need_pyav()
    for chosen, backbone in zip(spec.backbones, load_backbones(spec), strict=True):
        if chosen.name not in WITHOUT_TORCH:
            need_torch(chosen.name)
        if chosen.weights:
            sampling = backbone.sampling
            grey_frames = (
                {}
                if sampling is None
                else {sampling: np.full((sampling.per_second or 1, sampling.size, sampling.size, 3), 127, np.uint8)}
            )
            backbone.extract([Second(grey_frames, np.zeros(SAMPLE_RATE, np.float32))])


def claim_folder(folder: Path, spec: FeatureSpec) -> None:
    """Make the folder one of this feature spec; features that were not extracted by us are never changed."""
    refuse_link_out(folder, folder / ".done")
    found = find_feature_spec(folder)
    if found is None and any(folder.glob("*.npy")):
        raise InputError(f"{folder}: holds features without a {SPEC_FILE_NAME}, so made elsewhere; choose another --out")
    if found is not None and found != str(spec):
        if not (folder / ".done").is_dir():
            raise InputError(f"{folder}: holds features of '{found}', not '{spec}'; choose another --out")
        for record in sorted((folder / ".done").glob("*.json")):
            remove_features(folder, record.stem)
    (folder / ".done").mkdir(parents=True, exist_ok=True)
    write_feature_spec(folder, str(spec))  # before the other file, which is ours from then on
    write_text(folder / COLUMNS_FILE_NAME, columns_text(spec) + "\n")
