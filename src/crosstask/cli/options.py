"""Options that several verbs share, and how their videos are chosen."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from crosstask.evaluation.splits import Split
    from crosstask.records import Corpus, Video

CorpusFolder = Annotated[Path, typer.Argument(metavar="CORPUS", help="Folder with crosstask_release/ or corpus.toml.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON alone (fractions, not percent).")]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite", help="Overwrite exported files that were edited, and exports of other videos, in the --out folder."
    ),
]
VideoList = Annotated[Path | None, typer.Option("--videos", help="File with one TASK_VIDEO a line: use only these.")]
SplitSeed = Annotated[
    int | None, typer.Option("--split", help="Draw the paper's split with this seed (30 training videos a task).")
]
SharedVideos = Annotated[
    str, typer.Option("--shared-videos", help="With --split: keep or drop training rows of videos that are tested.")
]
MethodName = Annotated[
    str | None,
    typer.Option(
        "--method",
        help="hmm (default), zhukov19 (the paper), task-specific, supervised, alayrac16, richard18, or FILE.py:Class of your own.",
    ),
]
Recipe = Annotated[str | None, typer.Option("--recipe", help="Synonym of --method: best is hmm, paper is zhukov19.")]
Decoder = Annotated[
    str | None,
    typer.Option(
        "--decoder",
        help="once (list order), swaps (neighbours may swap), drops (steps may be dropped), free. Default: the model's own.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.")]


def chosen_method(method: str | None, recipe: str | None, default: str = "hmm") -> str:
    """The method that --method or its synonym --recipe names; both must agree."""
    from crosstask.methods.own_code import is_own
    from crosstask.methods.table import canonical_name
    from crosstask.records import InputError

    if recipe is not None and recipe not in ("best", "paper"):
        raise InputError(f"--recipe {recipe}: expected best or paper")
    if method is None:
        return canonical_name(recipe or default)
    if is_own(method):
        if recipe is not None:
            raise InputError(f"--method {method} and --recipe {recipe}: leave out --recipe")
        return method
    if recipe is not None and canonical_name(recipe) != canonical_name(method):
        raise InputError(
            f"--method {method} contradicts --recipe {recipe}, which means --method {canonical_name(recipe)}; leave out --recipe"
        )
    return canonical_name(method)


def check_decoder(decoder: str | None) -> str | None:
    """The decoder itself, or an error when it is unknown."""
    from crosstask.inference import DECODERS
    from crosstask.records import InputError

    if decoder is not None and decoder not in DECODERS:
        raise InputError(f"--decoder {decoder}: expected {', '.join(DECODERS)}")
    return decoder


def check_engine(engine: str) -> None:
    """Refuse an engine that is unknown or not installed, before any work."""
    from importlib.util import find_spec

    from crosstask.records import InputError, MissingExtra

    if engine not in ("local", "ray"):
        raise InputError(f"--engine {engine}: expected local or ray")
    if engine == "ray" and find_spec("ray") is None:
        raise MissingExtra("--engine ray", "ray")


def listed_videos(corpus: "Corpus", path: Path) -> "list[Video]":
    """The videos named in a list file, in corpus order; unknown ones are refused."""
    from crosstask.datasets.text_files import read_text
    from crosstask.records import InputError, parse_video_key

    if not path.is_file():
        raise InputError(f"{path}: no such file; expected one TASK_VIDEO a line")
    wanted = {}
    for number, line in enumerate(read_text(path, "expected one TASK_VIDEO a line").splitlines(), start=1):
        if line.strip():
            wanted[parse_video_key(line.strip(), corpus.tasks)] = number
    if not wanted:
        raise InputError(f"{path}: lists no video; expected one TASK_VIDEO a line")
    known = {video.key for video in corpus.videos}
    for key, number in wanted.items():
        if key not in known:
            raise InputError(
                f"{path.name}, line {number}: {key} is not in corpus '{corpus.name}'; expected TASK_VIDEO of its videos.csv"
            )
    return [video for video in corpus.videos if video.key in wanted]


def training_videos(corpus: "Corpus", videos: Path | None, split: int | None, shared_videos: str) -> "list[Video]":
    """The training videos: those of a list, the paper's split, or every non-validation video with features."""
    if videos is not None:
        return listed_videos(corpus, videos)
    if split is not None:
        return list(_split(corpus, split, shared_videos).train)
    from crosstask.methods.training_videos import videos_to_train_on

    trained = [video for video in corpus.videos if video.key not in corpus.validation]
    with_features = videos_to_train_on(corpus)
    if trained and not with_features:
        from crosstask.cli.output import command, counted
        from crosstask.records import InputError

        raise InputError(
            f"corpus '{corpus.name}': none of its {counted(len(trained), 'video')} has features; expected crosstask_features/VIDEO.npy "
            f"(features/VIDEO.npy beside corpus.toml), or video files and {command('extract', corpus.folder or corpus.name)}"
        )
    return with_features


def annotated_list(corpus: "Corpus", use_annotations: str | None) -> list[str] | str | None:
    """The value of --use-annotations for `ct.train`: "all", or the keys in a file."""
    if use_annotations is None or use_annotations == "all":
        return use_annotations
    return [str(video.key) for video in listed_videos(corpus, Path(use_annotations))]


def test_videos(corpus: "Corpus", videos: Path | None, split: int | None) -> "list[Video]":
    """The videos to evaluate: those of a list, the paper's split, or every annotated non-validation primary video."""
    from crosstask.metrics.truth import annotated_videos

    if videos is not None:
        return listed_videos(corpus, videos)
    if split is not None:
        return [video for video in _split(corpus, split, "keep").test if video.key in corpus.annotations]
    return annotated_videos(corpus)


def _split(corpus: "Corpus", seed: int, shared_videos: str) -> "Split":
    import numpy as np

    from crosstask.evaluation.splits import paper_split, without_shared_videos
    from crosstask.records import InputError

    if shared_videos not in ("keep", "drop"):
        raise InputError(f"--shared-videos {shared_videos}: expected keep or drop")
    split = paper_split(corpus, np.random.default_rng(seed))
    return split if shared_videos == "keep" else without_shared_videos(split, corpus)
