"""`crosstask pack`: thousands of feature files as a few."""

from typing import Annotated

import typer

from crosstask.cli.options import AsJson, CorpusFolder
from crosstask.cli.output import counted, print_json, say
from crosstask.cli.progress import progress


def pack(
    corpus: CorpusFolder,
    dtype: Annotated[str, typer.Option("--dtype", help="float16 (half the size) or float32.")] = "float16",
    check: Annotated[bool, typer.Option("--check", help="Compare every row with its checksum.")] = False,
    as_json: AsJson = False,
) -> None:
    """Pack a corpus's feature files into a few memory-mapped files, which makes training much faster.

    Done automatically by the verbs that train; videos that are added later are appended.

    Example: crosstask pack data/crosstask
    """
    from crosstask.datasets import open_corpus
    from crosstask.features import NpyFeatures, pack_features
    from crosstask.features.packed_corpus import pack_folder, packable_videos
    from crosstask.records import InputError

    if dtype not in ("float16", "float32"):
        raise InputError(f"--dtype {dtype}: expected float16 or float32")
    opened = open_corpus(corpus)
    if not isinstance(opened.features, NpyFeatures):
        raise InputError(f"{corpus}: no features to pack; `crosstask extract` makes them from video files")
    videos = packable_videos(opened)
    if not videos:
        raise InputError(f"{corpus}: no listed video has features; `crosstask extract` makes them from video files")
    with progress("packing", len(videos)) as advance:
        packed = pack_features(opened.features, videos, pack_folder(opened), dtype, lambda done, total: advance())
    damaged = packed.damaged() if check else []
    if damaged:
        raise InputError(
            f"{packed.folder}: rows of {', '.join(damaged[:5])} do not match their checksum; delete that folder and pack again"
        )
    n_rows, size = packed.shape[0], packed.shape[0] * packed.row_bytes
    if as_json:
        print_json(
            {
                "videos": len(videos),
                "rows": n_rows,
                "dimensions": packed.n_dimensions,
                "bytes": size,
                "dtype": dtype,
            }
        )
    else:
        say(
            f"{counted(len(videos), 'video')}, {counted(n_rows, 'row')} of {packed.n_dimensions} {dtype} numbers, "
            f"{size / 2**20:.0f} MiB in {packed.folder}"
        )
