"""Many videos -> a folder of features: one job a video, done once, each file whole or absent; a bad video is set aside with its reason.

FOLDER/VIDEO.npy         (T, D) float32
FOLDER/recipe.txt        what made them, in a line; models refuse features of another recipe
FOLDER/columns.txt       which columns are what
FOLDER/.done/VIDEO.json  what was done, from which content
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.extraction.backbones.protocol import need_torch
from crosstask.extraction.containers import need_pyav
from crosstask.extraction.content_hash import content_digest
from crosstask.extraction.extract_video import extract_video
from crosstask.extraction.feature_spec import FeatureSpec, Part, columns_text, load_backbones
from crosstask.extraction.second import SAMPLE_RATE, Second
from crosstask.features import read_shape, write_rows
from crosstask.jobs import Job, finished_result, run_all
from crosstask.records import InputError, MissingExtra
from crosstask.storage import write_text


@dataclass
class ExtractionReport:
    """What became of each video."""

    done: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Counts, and the reason for each video that was set aside."""
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
    """Describe videos (by id) into a folder; those already described from the same content are left alone."""
    check_backbones(spec)
    claim_folder(folder, spec)
    result = ExtractionReport()
    jobs = []
    for video_id, path in sorted(videos.items()):
        try:
            stamp = content_digest(path)
        except OSError as error:
            result.skipped[video_id] = f"{path.name}: cannot be read ({error.strerror}); expected a video file"
            remove_features(folder, video_id)
            advance()
            continue
        job = Job(video_id, {"id": video_id, "video": os.path.relpath(path, folder), "stamp": stamp, "recipe": str(spec)})
        if _is_done(folder, job):
            result.reused.append(video_id)
        jobs.append(job)
    work = partial(extract_job, folder=str(folder.resolve()), parts=[vars(part) for part in spec.parts])
    try:
        outcomes = run_all(work, jobs, folder / ".done", engine, workers, advance, address)
    except BrokenProcessPool:
        outcomes = [_alone(work, job, folder) for job in jobs]
    for job, outcome in zip(jobs, outcomes, strict=True):
        if "skipped" in outcome:
            result.skipped[job.name] = outcome["skipped"]
        elif job.name not in result.reused:
            result.done.append(job.name)
    return result


def _alone(work: Callable[[Mapping[str, Any]], Any], job: Job, folder: Path) -> Any:
    """What becomes of a video in a process of its own: one was lost, and so it shows at which video; finished ones are only read."""
    try:
        return run_all(work, [job], folder / ".done", workers=2)[0]
    except BrokenProcessPool:
        name = Path(job.values["video"]).name
        return {"skipped": f"{name}: describing it ends the process; damaged, or too large for the memory here: convert it anew"}


def extract_job(values: Mapping[str, Any], folder: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """One video described and written; what is wrong with it otherwise."""
    path = Path(os.path.normpath(Path(folder) / values["video"]))
    try:
        rows = extract_video(path, FeatureSpec(tuple(Part(**part) for part in parts)))
        changed = content_digest(path) != values["stamp"]
    except MissingExtra:
        raise
    except InputError as error:
        return {"skipped": str(error)}
    except OSError as error:
        return {"skipped": f"{path.name}: cannot be read ({error.strerror}); expected a video file"}
    if changed:
        return {"skipped": f"{path.name}: changed while it was read; repeat the command once it is copied whole"}
    write_rows(Path(folder) / f"{values['id']}.npy", rows)
    return {"shape": list(rows.shape)}


def _is_done(folder: Path, job: Job) -> bool:
    """Whether the features stand as their record says; otherwise both are dropped, and the video tried again."""
    outcome = finished_result(folder / ".done", job)
    try:
        if outcome is not None and list(read_shape(folder / f"{job.name}.npy")) == outcome.get("shape"):
            return True
    except InputError:
        pass
    remove_features(folder, job.name)
    return False


def remove_features(folder: Path, video_id: str) -> None:
    """Features that we made of other content go, as nothing may be found in a video by the looks of another; theirs stay who made them elsewhere."""
    record = folder / ".done" / f"{video_id}.json"
    if record.exists():
        (folder / f"{video_id}.npy").unlink(missing_ok=True)
        record.unlink()


def check_backbones(spec: FeatureSpec) -> None:
    """Find out now, not at every video, that a part is not installed or that weights do not fit."""
    need_pyav()
    for part, backbone in zip(spec.parts, load_backbones(spec), strict=True):
        if part.name != "log-mel":
            need_torch(part.name)
        if part.weights:
            sampling = backbone.sampling
            grey = (
                {}
                if sampling is None
                else {sampling: np.full((sampling.per_second or 1, sampling.size, sampling.size, 3), 127, np.uint8)}
            )
            backbone.describe([Second(grey, np.zeros(SAMPLE_RATE, np.float32))])


def claim_folder(folder: Path, spec: FeatureSpec) -> None:
    """Make the folder one of this recipe; features that something else made there are never touched."""
    written = folder / "recipe.txt"
    found = written.read_text("utf-8").strip() if written.is_file() else None
    if found is None and any(folder.glob("*.npy")):
        raise InputError(f"{folder}: holds features without a recipe.txt, so made elsewhere; choose another --out")
    if found is not None and found != str(spec):
        if not (folder / ".done").is_dir():
            raise InputError(f"{folder}: holds features of '{found}', not '{spec}'; choose another --out")
        for record in sorted((folder / ".done").glob("*.json")):
            remove_features(folder, record.stem)
    write_text(folder / "columns.txt", columns_text(spec) + "\n")
    (folder / ".done").mkdir(exist_ok=True)
    write_text(written, f"{spec}\n")
