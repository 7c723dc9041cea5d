"""Run every command of the manual from an empty folder, in the order of the pages, and stop at the first that fails.

    python docs/follow.py                 all pages, then the README, in a temporary folder
    python docs/follow.py --list          the blocks that are not run, and why
    python docs/follow.py --folder DIR start.md      only some pages, in a folder that stays

Fenced blocks are `sh` and `python` (run), or `text`, `toml`, `json` and `csv` (shown). A block that cannot be run has the line
`<!-- not run: REASON -->` before it. Nothing here may need the network: proxies point to a closed port.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parent.parent
RUN, SHOWN = ("sh", "python"), ("text", "toml", "json", "csv")
_FENCE = re.compile(r"^ *```(?P<language>[\w-]*)(?P<rest>.*)$")
_NOT_RUN = re.compile(r"^<!-- not run: (?P<reason>.+) -->$")
# Every shell stops at its first failure and prints the line.
_STRICT = "set -eEuo pipefail\ntrap 'echo \"failed at line $LINENO\" >&2' ERR\n"


class Block(NamedTuple):
    """A fenced block: its page and first line, its language and code, and the reason if it is not run."""

    page: str
    line: int
    language: str
    code: str
    not_run: str | None

    @property
    def place(self) -> str:
        """`page:line`, as editors jump to it."""
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    """The pages of the manual as its contents list them, then the README; generated ones left out."""
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]
    listed = [ROOT / "docs" / name for name in _names(nav)]
    return [page for page in listed if page.exists()] + [ROOT / "README.md"]


def _names(nav: object) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for below in nav.values():
            yield from _names(below)
    elif isinstance(nav, list):
        for below in nav:
            yield from _names(below)


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, from top to bottom."""
    found: list[Block] = []
    opened: tuple[int, str, str | None] | None = None
    code: list[str] = []
    before = ""
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        fence = _FENCE.match(line)
        if fence and opened is None:
            excuse = _NOT_RUN.match(before)
            opened, code = (number + 1, fence["language"] + fence["rest"], excuse["reason"] if excuse else None), []
        elif fence and opened is not None:
            found.append(Block(str(page.relative_to(ROOT)), opened[0], opened[1], "\n".join(code) + "\n", opened[2]))
            opened = None
        elif opened is not None:
            code.append(line)
        before = line.strip() or before  # an empty line may stand between
    return found


def run_block(block: Block, folder: Path) -> subprocess.CompletedProcess[str]:
    """The finished process of a block that was run in the folder; line numbers in its errors are those of the page."""
    with tempfile.TemporaryDirectory() as scratch:
        script, strict = Path(scratch) / Path(block.page).name, Path(scratch) / "strict.sh"
        script.write_text("\n" * (block.line - 1) + block.code, "utf-8")
        strict.write_text(_STRICT, "utf-8")
        command = [sys.executable, str(script)] if block.language == "python" else ["bash", str(script)]
        return subprocess.run(
            command,
            cwd=folder,
            env=environment(folder, strict),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=900,
        )


def environment(folder: Path, strict: Path) -> dict[str, str]:
    """The environment of a command: this Python first, a separate cache, no network."""
    nowhere = "http://127.0.0.1:9"
    return os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "BASH_ENV": str(strict),
        "CROSSTASK_CACHE": str(folder / ".cache"),
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "http_proxy": nowhere,
        "https_proxy": nowhere,
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
    }


def follow(chosen: Sequence[Path], folder: Path) -> int:
    """0 when every block of the pages ran; 1 at the first that did not, which is shown."""
    started, done, left = time.monotonic(), 0, 0
    for page in chosen:
        for block in blocks_of(page):
            if block.language not in RUN:
                continue
            if block.not_run:
                left += 1
                continue
            before = time.monotonic()
            ended = run_block(block, folder)
            print(f"{time.monotonic() - before:6.1f} s  {block.place}  {block.code.splitlines()[0][:90]}", flush=True)
            if ended.returncode != 0:
                print(f"{block.place}: exit code {ended.returncode}\n{ended.stdout[-2000:]}\n{ended.stderr[-4000:]}")
                return 1
            done += 1
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = f"{time.monotonic() - started:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of CPU"
    print(f"{done} blocks of {len(chosen)} pages ran, {left} are not run (--list), {took}")
    return 0


def main() -> int:
    """Parse the arguments and run the pages; returns the exit code."""
    parser = argparse.ArgumentParser(description="Follow the manual from an empty folder.")
    parser.add_argument("pages", nargs="*", help="Pages, e.g. start.md [default: all, in order]")
    parser.add_argument("--folder", type=Path, help="Work here and leave it [default: a temporary folder]")
    parser.add_argument("--list", action="store_true", help="List the blocks that are not run, and why")
    arguments = parser.parse_args()
    chosen = [page for page in pages() if not arguments.pages or page.name in arguments.pages]
    if arguments.list:
        for block in (block for page in chosen for block in blocks_of(page) if block.not_run):
            print(f"{block.place}: {block.not_run}")
        return 0
    if arguments.folder:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        return follow(chosen, arguments.folder.resolve())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return follow(chosen, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
