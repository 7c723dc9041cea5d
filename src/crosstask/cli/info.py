"""`crosstask info`: what a model file contains."""

from pathlib import Path
from typing import Annotated, Any

import typer

from crosstask.cli.options import AsJson
from crosstask.cli.output import print_json, say


def info(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file written by train.")],
    as_json: AsJson = False,
) -> None:
    """Show the method, settings, tasks, vocabulary, features and training videos of a model file.

    Example: crosstask info model.safetensors
    """
    from crosstask.model.info import model_info

    shape = model_info(model)
    if as_json:
        print_json(shape)
        return
    for name, value in shape.items():
        if name == "tasks":
            say(f"tasks: {len(value)}")
            for task in value[:20]:
                say(f"  {task['id']}  {task['title']}  ({task['steps']} steps)")
            if len(value) > 20:
                say(f"  ... and {len(value) - 20} more")
        else:
            say(f"{name.replace('_', ' ')}: {_text(value)}")


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items()) or "none"
    return str(value)
