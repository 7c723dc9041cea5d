"""`crosstask init`: a corpus folder for one's own videos."""

from pathlib import Path
from typing import Annotated

import typer

from crosstask.cli.output import command, note, say

TEMPLATE = """\
# Your how-to tasks. For each: a short name without spaces or underscores, a title, and its steps in order.
# Verb and noun are enough ("pour milk"); steps that share words help each other across tasks.
# Put the videos of a task into videos/NAME/ (NAME is the short name), any format; subtitles (.vtt, .srt, .json) of the same name beside them.
# Ten videos a task are a start, thirty are good. Then:  crosstask run {folder}

[tasks.latte]
title = "Make Latte"
steps = ["grind coffee", "steam milk", "pour milk"]

[tasks.pancakes]
title = "Make Pancakes"
steps = ["pour milk", "whisk egg", "pour batter", "flip pancake"]

# A task that only helps the others and is not looked for itself:
# [tasks.cocoa]
# title = "Make Cocoa"
# steps = ["heat milk", "stir cocoa"]
# related = true

# Where a person marked steps, annotations/NAME_VIDEO.csv (lines: step from 1, start s, end s) lets `evaluate` judge.
"""


def init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder to make; what is in it already is left alone.")],
) -> None:
    """Write a commented corpus.toml and folders for videos; nothing is ever overwritten.

    Example: crosstask init my-corpus
    """
    import shlex

    from crosstask.datasets import refuse_broken_links
    from crosstask.records import InputError
    from crosstask.storage import write_text

    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: a file; expected a folder, new or old")
    refuse_broken_links(folder)
    description = folder / "corpus.toml"
    if description.exists():
        note(f"note: {description} is there already and stays as it is")
    else:
        write_text(description, TEMPLATE.replace("{folder}", shlex.quote(str(folder)).replace("\n", " ")))
        say(f"{description}: written; change its tasks to yours")
    for task in _tasks(description):
        (folder / "videos" / task).mkdir(parents=True, exist_ok=True)
    say(f"next: put the videos of each task into {folder / 'videos'}/TASK/, then {command('run', folder)}")


def _tasks(description: Path) -> list[str]:
    """The tasks of the description, whichever stands there."""
    from crosstask.datasets import open_corpus

    return list(open_corpus(description.parent).tasks)
