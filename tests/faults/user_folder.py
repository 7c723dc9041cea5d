"""A folder of videos as a user keeps it, what the user said about the steps, and a fresh copy that holds nothing else.

A label is of the content of a video file, a task and the name of a step; the last one that is not undone holds. A judgement of relevance is of
the content and the task.
"""

import json
import shutil
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from crosstask.datasets import open_corpus
from crosstask.records import VideoKey
from crosstask.runs import LabelStore, RunLabel
from crosstask.runs.relevance import save_relevance
from crosstask.viewer.annotations import AnnotationStore

N_CONTENTS = 5
WORDS = ("pour milk", "stir coffee", "boil water", "grind beans", "add sugar")
LINES = ("pour the milk", "now stir the coffee", "boil some water", "grind the beans")
FOREIGN = ("notes.txt", "videos/notes.txt", "run/notes.txt", "run/annotations/notes.txt", ".crosstask/features/notes.txt")


@cache
def content(number: int) -> bytes:
    """The bytes of one of a few short videos, which differ in sound and some in length."""
    from extraction.media import write_video

    folder = Path(mkdtemp())
    path = write_video(folder / "v.mp4", seconds=6 + number % 2, rate=4, size=(32, 32), pitch=300 + 90 * number)
    data = path.read_bytes()
    shutil.rmtree(folder)
    return data


def subtitles(number: int) -> bytes:
    """The bytes of one of a few subtitle files."""
    cues = [f"{i + 1}\n00:00:0{i},500 --> 00:00:0{i + 1},000\n{LINES[(number + i) % len(LINES)]}\n" for i in range(4)]
    return "\n".join(cues).encode()


@dataclass(frozen=True)
class Said:
    """One change of labels: by the number that the run gave it, the content and task it is of, and the labels themselves."""

    number: int
    content: bytes
    task: str
    labels: tuple[RunLabel, ...]
    drawn: str | None


@dataclass
class RunView:
    """What a run folder showed when it was last made, and what was said there since its first run."""

    contents: dict[VideoKey, bytes] = field(default_factory=dict)
    said: list[Said] = field(default_factory=list)
    relevance: dict[tuple[bytes, str], str] = field(default_factory=dict)


class UserFolder:
    """The files of a user under `root/kitchen`; every change goes through `write`, `remove` and `move`."""

    def __init__(self, root: Path) -> None:
        self.root, self.corpus = root, root / "kitchen"
        self.tasks = {"latte": ["pour milk", "stir coffee"], "tea": ["boil water", "add sugar"]}
        self.files: dict[str, bytes] = {}
        self.removed: list[tuple[str, bytes]] = []
        self.runs: dict[str, RunView] = {}
        self.viewers: list[
            tuple[AnnotationStore, RunView, dict[VideoKey, bytes]]
        ] = []  # open ones, with the files that they show
        for number, name in enumerate(("latte/a", "latte/b", "tea/c")):
            self.write(f"videos/{name}.mp4", content(number))
            self.write(f"videos/{name}.srt", subtitles(number))
        for name in FOREIGN:
            self.write(name, b"of the user")
        self.write_steps()

    def write(self, name: str, data: bytes) -> None:
        path = self.corpus / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.files[name] = data

    def remove(self, name: str) -> None:
        (self.corpus / name).unlink()
        self.removed.append((name, self.files.pop(name)))

    def move(self, name: str, target: str) -> None:
        if target not in self.files:
            (self.corpus / target).parent.mkdir(parents=True, exist_ok=True)
            (self.corpus / name).rename(self.corpus / target)
            self.files[target] = self.files.pop(name)

    def move_all(self) -> None:
        """Rename the folder of the corpus itself."""
        target = self.root / ("moved" if self.corpus.name == "kitchen" else "kitchen")
        self.corpus = self.corpus.rename(target)

    def write_steps(self) -> None:
        tables = (f"[tasks.{task}]\nsteps = {json.dumps(steps)}\n" for task, steps in self.tasks.items())
        self.write("corpus.toml", "\n".join(tables).encode())

    def named(self, ending: str) -> list[str]:
        """The names of the user's files in the folders of tasks that have this ending."""
        return sorted(name for name in self.files if name.endswith(ending) and name.count("/") == 2 and name.startswith("videos"))

    def out(self, run: str) -> Path:
        """The folder of a run: `run` is in the corpus, any other one beside it."""
        return self.corpus / "run" if run == "run" else self.root / run

    def contents(self) -> dict[VideoKey, bytes]:
        """The bytes of each video that the corpus has now."""
        return {video.key: (self.corpus / video.url).read_bytes() for video in open_corpus(self.corpus).videos}

    def changed_files(self) -> list[str]:
        """The files of the user that are not as the user left them."""
        paths = {name: self.corpus / name for name in self.files}
        return [name for name, path in paths.items() if not path.is_file() or path.read_bytes() != self.files[name]]

    def fresh_copy(self, root: Path, run: str) -> "UserFolder":
        """A folder with the user's files alone, and what still holds of what was said in a run."""
        fresh = UserFolder.__new__(UserFolder)
        fresh.__dict__ |= {**self.__dict__, "root": root, "corpus": root / self.corpus.name}
        for name, data in self.files.items():
            path = fresh.corpus / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        view, out = self.runs.get(run, RunView()), fresh.out(run)
        if view.said or view.relevance:
            out.mkdir(parents=True, exist_ok=True)
            fresh._say_again(view, out)
        return fresh

    def _say_again(self, view: RunView, out: Path) -> None:
        tasks = open_corpus(self.corpus).tasks
        store, relevance = LabelStore(out, tasks), {}
        for key, data in self.contents().items():
            if (data, key.task) in view.relevance:
                relevance[key] = view.relevance[data, key.task]
        for said in view.said:
            for key, data in sorted(self.contents().items()):
                if (data, key.task) == (said.content, said.task):
                    labels = [self._numbered(label, tasks[key.task].steps) for label in said.labels]
                    if kept := [label for label in labels if label is not None]:
                        store.append(key, kept, "test", said.drawn)
        save_relevance(out, relevance, {})

    @staticmethod
    def _numbered(label: RunLabel, steps: tuple[str, ...]) -> RunLabel | None:
        """The label with the number that its step has now, None where no step or several have its name."""
        if steps.count(label.name) != 1:
            return None if steps[label.step : label.step + 1] != (label.name,) else label
        step = steps.index(label.name)
        return replace(label, step=step, label=None if label.label is None else replace(label.label, step=step))
