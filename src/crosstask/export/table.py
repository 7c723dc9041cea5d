"""Every format by name, and the one call that writes them."""

from collections.abc import Callable, Sequence
from pathlib import Path

from crosstask.export.annotation_tools import elan, fiftyone, label_studio
from crosstask.export.chapters import webvtt, youtube
from crosstask.export.parses import Parse, parses_of
from crosstask.export.tables_and_json import activitynet, csv_table, plain_json
from crosstask.records import InputError
from crosstask.runs import RunFolder
from crosstask.storage import stable_json, write_text

Written = dict[str, str]  # file name -> text
Remarks = list[str]
DEFAULT_FPS = 25.0


def _per_video(ending: str, text: Callable[[Parse], str]) -> Callable[[Sequence[Parse], float], tuple[Written, Remarks]]:
    def write(parses: Sequence[Parse], frames_per_second: float) -> tuple[Written, Remarks]:
        return {f"{parse.key}.{ending}": text(parse) for parse in parses}, []

    return write


def _youtube(parses: Sequence[Parse], frames_per_second: float) -> tuple[Written, Remarks]:
    texts = {parse.key: youtube(parse) for parse in parses}
    files = {f"{key}.txt": text for key, (text, _) in texts.items()}
    return files, [f"{key}: {remark}" for key, (_, remarks) in texts.items() for remark in remarks]


FORMATS: dict[str, Callable[[Sequence[Parse], float], tuple[Written, Remarks]]] = {
    "vtt": _per_video("vtt", webvtt),
    "youtube": _youtube,
    "activitynet": lambda parses, fps: ({"activitynet.json": stable_json(activitynet(parses))}, []),
    "elan": _per_video("eaf", elan),
    "label-studio": lambda parses, fps: ({"label-studio.json": stable_json(label_studio(parses, fps))}, []),
    "fiftyone": lambda parses, fps: ({"labels.json": stable_json(fiftyone(parses))}, []),
    "csv": lambda parses, fps: ({"steps.csv": csv_table(parses)}, []),
    "json": lambda parses, fps: ({"steps.json": stable_json(plain_json(parses))}, []),
}


def export_run(
    run: RunFolder,
    names: Sequence[str],
    out: Path,
    method: str | None = None,
    frames_per_second: float = DEFAULT_FPS,
    all_steps: bool = False,
) -> tuple[list[Path], Remarks]:
    """The files written, a folder a format, and what a reader should know about them."""
    for name in names:
        if name not in FORMATS:
            raise InputError(f"format '{name}' is unknown; expected all, or one of {', '.join(FORMATS)}")
    if method is not None and method not in run.localizations:
        raise InputError(f"method '{method}' is not in this run; it has {', '.join(run.localizations)}")
    parses = parses_of(run, method, all_steps)
    paths: list[Path] = []
    n_absent = sum(len(parse.absent) for parse in parses)
    remarks: Remarks = [f"{n_absent} steps are taken to be absent and left out; --all-steps keeps them"] if n_absent else []
    for name in names:
        files, said = FORMATS[name](parses, frames_per_second)
        paths += [write_text(out / name / file, text) for file, text in files.items()]
        remarks += [f"{name}: {remark}" for remark in said]
    return paths, remarks
