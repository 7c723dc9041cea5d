"""`crosstask extract`: from video files to features, one row a second."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crosstask.cli.options import AsJson, check_engine
from crosstask.cli.output import print_json, report_skipped, say
from crosstask.cli.progress import progress

if TYPE_CHECKING:
    from crosstask.extraction.extract_many import ExtractionReport
    from crosstask.extraction.feature_spec import FeatureSpec
    from crosstask.pipeline.extract import Workers
    from crosstask.text.encoders import Encoder

Features = Annotated[
    str | None,
    typer.Option(
        "--features",
        help="default (efficientnet-lite0,log-mel; where torch is not installed: light), light (colour, edges, motion, sound), "
        "paper (i3d,resnet152,vggish), clip=FOLDER (an image-text model: CLIP, SigLIP, SigLIP 2, X-CLIP), speech, or NAME,NAME.",
    ),
]
Weights = Annotated[
    list[str] | None, typer.Option("--weights", metavar="NAME=PATH", help="Weights of a backbone; may be repeated.")
]
Every = Annotated[int, typer.Option("--every", min=1, help="resnet152: only every Nth frame (recorded as a deviation).")]
Device = Annotated[str, typer.Option("--device", help="clip: auto (CUDA, MPS or CPU), cuda, mps or cpu.")]
Engine = Annotated[str, typer.Option("--engine", help="local (processes on this machine) or ray.")]
WorkerCount = Annotated[int | None, typer.Option("--workers", min=1, help="Videos at a time [default: cores, at most 8].")]
Address = Annotated[str | None, typer.Option("--address", help="Ray cluster to use, e.g. auto or ray://host:10001.")]


def extract(
    inputs: Annotated[list[Path], typer.Argument(metavar="CORPUS|VIDEO", help="A corpus folder, or video files.")],
    features: Features = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the features [default: in CORPUS/.crosstask].")] = None,
    weights: Weights = None,
    every: Every = 1,
    device: Device = "auto",
    engine: Engine = "local",
    workers: WorkerCount = None,
    address: Address = None,
    as_json: AsJson = False,
) -> None:
    """Extract features of videos, one row per second; finished videos are reused, unusable ones are skipped with the reason.

    Example: crosstask extract my-corpus --features default
    """
    from crosstask.extraction.feature_spec import default_features, parse_feature_spec

    spec = parse_feature_spec(features or default_features(), weights_given(weights), every, device)
    team = team_of(engine, workers, address)
    from crosstask.text.encoders.choice import sentence_encoder

    encoder = sentence_encoder() if spec.speech else None
    if len(inputs) == 1 and inputs[0].is_dir():
        result, folder = _corpus(inputs[0], spec, out, team, encoder)
    else:
        result, folder = _files(inputs, spec, out, team, encoder)
    report_skipped(result.skipped)
    if as_json:
        print_json(result.to_json() | {"folder": str(folder), "recipe": str(spec)})
    else:
        say(f"{folder}: {len(result.done)} done, {len(result.reused)} reused, {len(result.skipped)} skipped ({spec})")
    if result.skipped and not (result.done or result.reused):
        raise typer.Exit(2)


def _corpus(
    folder: Path, spec: "FeatureSpec", out: Path | None, team: "Workers", encoder: "Encoder | None"
) -> "tuple[ExtractionReport, Path]":
    from contextlib import nullcontext

    from crosstask.datasets import open_corpus
    from crosstask.pipeline.extract import extract_corpus
    from crosstask.pipeline.media import media_of
    from crosstask.storage import derived_folder, nonblocking_lock

    corpus = open_corpus(folder)
    lock = nonblocking_lock(derived_folder(folder)) if out is None else nullcontext()  # against a run that reads these features
    with lock, progress("extracting", len(media_of(corpus))) as advance:
        return extract_corpus(corpus, spec, out, team, encoder, advance)


def _files(
    paths: list[Path], spec: "FeatureSpec", out: Path | None, team: "Workers", encoder: "Encoder | None"
) -> "tuple[ExtractionReport, Path]":
    from crosstask.extraction.extract_many import refuse_features_of_others
    from crosstask.pipeline.extract import extract_files
    from crosstask.records import InputError, folded_name

    if missing := [str(path) for path in paths if not path.exists()]:
        raise InputError(f"{', '.join(missing)}: no such file or folder; expected a corpus folder, or video files")
    if out is None:
        raise InputError("features of single videos need --out FOLDER")
    files: dict[str, Path] = {}
    for path in paths:
        if path.is_dir():
            raise InputError(f"{path}: a folder among videos; expected one corpus folder, or video files")
        if files.setdefault(folded_name(path.stem), path) != path:
            raise InputError(f"{path}: two videos of one name; features are kept by name, so rename one")
    files = {path.stem: path for path in paths}
    refuse_features_of_others(out, files, spec)
    with progress("extracting", len(files)) as advance:
        return extract_files(files, spec, out, subtitles_beside(paths), team, encoder, advance), out


def subtitles_beside(paths: list[Path]) -> Any:
    """The subtitles that lie beside some videos, by name."""
    from crosstask.datasets.subtitle_folders import SubtitleFolders

    return SubtitleFolders(tuple(sorted({path.parent for path in paths})))


def weights_given(weights: list[str] | None) -> dict[str, Path]:
    """`NAME=PATH` options as a table.

    >>> weights_given(["vggish=a=b.pth"])
    {'vggish': PosixPath('a=b.pth')}
    """
    from crosstask.records import InputError

    table = {}
    for text in weights or []:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            raise InputError(f"--weights {text}: expected NAME=PATH, e.g. resnet152=resnet152.pth")
        table[name] = Path(path)
    return table


def team_of(engine: str, workers: int | None, address: str | None) -> "Workers":
    """Who works."""
    import os

    from crosstask.pipeline.extract import Workers

    check_engine(engine)
    return Workers(
        engine,
        workers or min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1),
        address,
    )
