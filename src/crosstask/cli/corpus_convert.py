"""`crosstask corpus convert`: from any set that can be read to the published layout or a corpus.toml."""

from pathlib import Path
from typing import Annotated

import typer

from crosstask.cli.options import AsJson
from crosstask.cli.output import print_json, say
from crosstask.cli.progress import progress


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Corpus folder, or the annotation file of a published set.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write.")],
    to: Annotated[str, typer.Option("--to", help="release (the published layout) or corpus.toml.")] = "release",
    rate: Annotated[float, typer.Option("--rate", help="Feature rows a second in IN; pooled to one a second by the mean.")] = 1.0,
    features: Annotated[Path | None, typer.Option("--features", help="Folder of VIDEO.npy to take instead of IN's own.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write any corpus that can be read in the published layout or as corpus.toml; features at another rate are pooled.

    Example: crosstask corpus convert COIN.json data/coin --to release --features s3d/ --rate 2
    """
    from dataclasses import replace

    from crosstask.datasets import open_corpus
    from crosstask.datasets.corpus_writer import LAYOUTS, write_corpus
    from crosstask.features import NpyFeatures, find_text_side, read_feature_spec
    from crosstask.pipeline.preflight import refuse_outdated_features
    from crosstask.records import InputError

    if to not in LAYOUTS:
        raise InputError(f"--to {to}: expected release or corpus.toml")
    if not 0 < rate <= 1000:
        raise InputError(f"--rate {rate:g}: expected rows a second, above 0 and at most 1000")
    corpus = open_corpus(source)
    if features is not None:
        if not features.is_dir():
            raise InputError(f"{features}: no such folder; expected one with VIDEO.npy files")
        corpus = replace(
            corpus, features=NpyFeatures(features), feature_spec=read_feature_spec(features), text_side=find_text_side(features)
        )
    refuse_outdated_features(corpus)
    if out.exists() and (not out.is_dir() or (corpus.folder is not None and out.resolve() == corpus.folder.resolve())):
        raise InputError(f"{out}: a file, or the corpus itself; expected another folder to write")
    with progress("writing", len({video.id for video in corpus.videos})) as advance:
        written = write_corpus(corpus, out, to, rate, advance)
    if as_json:
        print_json({"corpus": corpus.name, "out": str(out), "layout": to, "rate": rate, "written": written})
    else:
        say(f"{out}: {corpus.name}, " + ", ".join(f"{count} {what}" for what, count in written.items()))
