"""`crosstask download`: the published parts of the set."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crosstask.cli.options import AsJson
from crosstask.cli.output import counted, note, print_json, say

if TYPE_CHECKING:
    from crosstask.corpus_building.fetching import Progress


def download(
    name: Annotated[str, typer.Argument(metavar="NAME", help="release, constraints, subtitles, features, all, or captaincook.")],
    out: Annotated[Path, typer.Option("--out", help="Corpus folder to fill.")] = Path("crosstask"),
    mirror: Annotated[
        str | None, typer.Option("--from", metavar="URL", help="Address to use instead of the published ones.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print addresses and sizes, download nothing.")] = False,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds to wait without a byte.")] = 30.0,
    attempts: Annotated[int, typer.Option("--attempts", min=1, help="How often to resume after a broken connection.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Fetch parts of the published set: sizes first, resumed where it stopped, checksums kept, unpacked safely.

    Example: crosstask download release --out data/crosstask
    """
    from crosstask.corpus_building.download import download_part, part_named
    from crosstask.corpus_building.fetching import RetryPolicy, content_length, require_http
    from crosstask.corpus_building.published_parts import PARTS
    from crosstask.records import InputError

    parts = list(PARTS.values()) if name == "all" else [part_named(name)]
    if mirror is not None and len(parts) > 1:
        raise InputError("--from names one address; expected one part, e.g. download release --from URL")
    addresses = () if mirror is None else (require_http(mirror),)
    policy = RetryPolicy(timeout_s=timeout, attempts=attempts)
    results: list[dict[str, Any]] = []
    for part in parts:
        size = part.size if dry_run else content_length((addresses or part.addresses)[0], policy) or part.size
        if not as_json:
            say(f"{part.name}: {part.contents}, {_size(size)}, from {' or '.join(addresses or part.addresses)}")
        if dry_run:
            results.append({"part": part.name, "addresses": list(addresses or part.addresses), "bytes": size})
            continue
        results.append(download_part(part, out, addresses, policy, progress=_progress(part.name)))
        if not as_json:
            state = "checksum as recorded" if results[-1]["verified"] else "checksum recorded"
            kept = "" if results[-1]["from"] else "; nothing downloaded, the archive of an earlier command was there"
            say(f"{out / part.folder}: {counted(results[-1]['files'], 'file')}, {state}{kept}")
    if as_json:
        print_json({"parts": results})


def _size(size: int | None) -> str:
    return "size not said" if size is None else f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def _progress(what: str) -> "Progress":
    """Tells each tenth once; on a terminal each hundredth, on one line."""
    steps, last = (100, -1) if sys.stderr.isatty() else (10, 0)

    def advance(done: int, total: int | None) -> None:
        nonlocal last
        reached = done * steps // total if total else done // 10**8
        if reached <= last:
            return
        last = reached
        text = f"{what}: {_size(done)} of {_size(total)}" if total else f"{what}: {_size(done)}"
        if steps == 100:
            typer.echo(f"\r{text}", err=True, nl=bool(total and done >= total))
        elif total is None or total > 10**7:
            note(text)

    return advance
