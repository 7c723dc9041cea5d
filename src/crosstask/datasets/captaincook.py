"""CaptainCook4D (Peddi et al. 2024) as published.

    complete_step_annotations.json       {RECORDING: {"activity_id", "activity_name", "person_id", "environment", "steps": [..]}},
                                         a step {"step_id", "start_time", "end_time", "description"}, seconds, a negative start = absent
    task_graphs/*.json                   optional: {"steps": {N: TEXT}, "edges": [[A, B]]}; the file is named after the activity
    RECORDING_360p.mp4_1s_1s.npz         optional, here or in a subfolder: features (T, D) as `arr_0`, one row per second

A video is called P<person>_E<environment>_RECORDING, so that splits by person or by kitchen follow from its id. Steps are listed in an order
that keeps the published graph, otherwise by mean position. Their names are cut from the descriptions by `short_name`.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.datasets.named_steps import MAX_VIDEO_S
from crosstask.datasets.short_names import short_name
from crosstask.datasets.text_files import read_json
from crosstask.features import NpzFeatures
from crosstask.records import Corpus, InputError, Interval, NoFeatures, StepInterval, Task, Video, refuse_escaping_id
from crosstask.records.task import topological_order, without_circles

ANNOTATION_FILE = "complete_step_annotations.json"
GRAPHS_FOLDER = "task_graphs"
FEATURE_SUFFIX = "_360p.mp4_1s_1s.npz"
EXPECTED = (
    'expected CaptainCook4D\'s {RECORDING: {"activity_id", "person_id", "environment", "steps": [{"step_id", "start_time"}]}}'
)


@dataclass(frozen=True)
class _Recording:
    """A recording with its (step id, interval) pairs; `mentioned` are all its steps, the absent ones too."""

    video: Video
    title: str
    mentioned: Mapping[str, str]  # step id -> description
    steps: tuple[tuple[str, Interval], ...]

    @property
    def length_s(self) -> float:
        """The end of the last step."""
        return max((interval.end_s for _, interval in self.steps), default=1.0)


def is_captaincook(value: Any) -> bool:
    """True if a JSON value has the layout of the annotation file."""
    first = next(iter(value.values()), None) if isinstance(value, dict) else None
    return isinstance(first, dict) and {"activity_id", "person_id", "environment", "steps"} <= set(first)


def read_captaincook(path: Path) -> Corpus:
    """The corpus of the annotation file; task graphs and features in its folder and in subfolders are used."""
    value = read_json(path, EXPECTED)
    if not isinstance(value, dict) or not value:
        raise InputError(f"{path.name}: no recordings; {EXPECTED}")
    recordings = [_recording(path, str(name), entry) for name, entry in value.items()]
    graphs = _graphs(path.parent)
    tasks: dict[str, Task] = {}
    ids_of: dict[str, list[str]] = {}
    for task_id in sorted({r.video.task for r in recordings}, key=lambda t: (len(t), t)):
        members = [r for r in recordings if r.video.task == task_id]
        tasks[task_id], ids_of[task_id] = _task(task_id, members, graphs.get(_letters(members[0].title)))
    files = {f.name.removesuffix(FEATURE_SUFFIX): f for f in sorted(path.parent.glob(f"**/*{FEATURE_SUFFIX}"))}
    names = {r.video.id: r.video.id.split("_", 2)[2] for r in recordings}
    features = {video: files[name] for video, name in names.items() if name in files}
    return Corpus(
        name="CaptainCook4D",
        tasks=tasks,
        videos=tuple(r.video for r in recordings),
        seconds={r.video.id: max(1, math.ceil(r.length_s)) for r in recordings},
        annotations={
            r.video.key: tuple(StepInterval(ids_of[r.video.task].index(step), interval) for step, interval in r.steps)
            for r in recordings
        },
        features=NpzFeatures(features) if features else NoFeatures(),
        folder=path.parent,
        feature_spec="CaptainCook4D, as published" if features else "unknown",
    )


def _recording(path: Path, name: str, entry: Any) -> _Recording:
    try:
        person, kitchen = (re.sub(r"\W", "", str(entry[key])) for key in ("person_id", "environment"))
        task, title = (
            re.sub(r"\W", "", str(entry["activity_id"])),
            str(entry.get("activity_name") or entry["activity_id"]).strip(),
        )
        rows = [(str(s["step_id"]), str(s["description"]), float(s["start_time"]), float(s["end_time"])) for s in entry["steps"]]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{path.name}, recording {name[:40]}: found {str(entry)[:60]!r}; {EXPECTED}") from None
    video = refuse_escaping_id(f"P{person}_E{kitchen}_{name}", "video")
    shown = []
    for step, _, start_s, end_s in rows:
        if start_s < 0:
            continue
        if not start_s < end_s < MAX_VIDEO_S:
            raise InputError(
                f"{path.name}, recording {name}: step {step} runs from {start_s} to {end_s}; expected start before end"
            )
        shown.append((step, Interval(start_s, end_s)))
    if not task or not rows:
        raise InputError(f"{path.name}, recording {name[:40]}: no activity or no steps; {EXPECTED}")
    descriptions = {step: description for step, description, _, _ in rows}
    return _Recording(Video(task, video), title, descriptions, tuple(sorted(shown, key=lambda pair: pair[1])))


def _task(task_id: str, members: list[_Recording], graph: "_Graph | None") -> tuple[Task, list[str]]:
    """The task of some recordings, and the published ids of its steps in the order of its list."""
    descriptions: dict[str, str] = {}
    for recording in members:
        for step, text in recording.mentioned.items():
            descriptions.setdefault(step, text)
    ids = sorted(descriptions, key=_number)
    middles = [
        [sum((i.start_s, i.end_s)) / 2 / r.length_s for r in members for step, i in r.steps if step == wanted] for wanted in ids
    ]
    ranks = [float(np.mean(m)) if m else 1.0 for m in middles]
    edges = [] if graph is None else graph.between([_letters(descriptions[step]) for step in ids])
    order = topological_order(edges, ranks, f"task graph of '{members[0].title}'")
    place = {k: i for i, k in enumerate(order)}
    listed = [ids[k] for k in order]
    task = Task(
        refuse_escaping_id(task_id, "task"),
        members[0].title,
        tuple(short_name(descriptions[step]) for step in listed),
        order=tuple(sorted((place[a], place[b]) for a, b in edges)),
        descriptions=tuple(descriptions[step].strip() for step in listed),
    )
    return task, listed


@dataclass(frozen=True)
class _Graph:
    """A published task graph: texts by node, as letters alone, and edges between nodes."""

    texts: Mapping[str, str]
    edges: tuple[tuple[str, str], ...]

    def between(self, texts: Sequence[str]) -> list[tuple[int, int]]:
        """The edges between steps with these texts, by position; paths through other nodes, such as START, become edges."""
        step_of, edges = self._steps_of_nodes(texts), set(self.edges)
        for node in self.texts:
            if node not in step_of:
                before, after = [a for a, b in edges if b == node], [b for a, b in edges if a == node]
                edges = {edge for edge in edges if node not in edge} | {(a, b) for a in before for b in after if a != b}
        return without_circles((step_of[a], step_of[b]) for a, b in edges)

    def _steps_of_nodes(self, texts: Sequence[str]) -> dict[str, int]:
        """Node -> position of the step with its text; equal texts are matched in the order of their numbers."""
        free: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            free.setdefault(text, []).append(position)
        nodes = sorted(self.texts, key=_number)
        return {node: free[self.texts[node]].pop(0) for node in nodes if free.get(self.texts[node])}


def _graphs(folder: Path) -> dict[str, _Graph]:
    """Task graphs by the letters of the activity's name, which names the file."""
    return {_letters(path.stem): _read_graph(path) for path in sorted(folder.glob(f"**/{GRAPHS_FOLDER}/*.json"))}


def _read_graph(path: Path) -> _Graph:
    expected = 'expected a task graph {"steps": {N: TEXT}, "edges": [[A, B]]}'
    value = read_json(path, expected)
    try:
        texts = {str(node): _letters(str(text)) for node, text in value["steps"].items()}
        edges = tuple((str(a), str(b)) for a, b in value["edges"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{path.name}: found {str(value)[:60]!r}; {expected}") from None
    if unknown := [node for edge in edges for node in edge if node not in texts]:
        raise InputError(f"{path.name}: an edge names step {unknown[0]}, which is not listed; {expected}")
    return _Graph(texts, edges)


def _number(name: str) -> tuple[int, str]:
    """A key that sorts numbers by value."""
    return (int(name), "") if name.isdecimal() and len(name) < 10 else (0, name)


def _letters(text: str) -> str:
    """Letters and digits alone, in lower case, by which names and texts of different files are compared.

    >>> _letters("Microwave Egg Sandwich") == _letters("microwave_egg-sandwich")
    True
    """
    return "".join(c for c in text.lower() if c.isalnum())
