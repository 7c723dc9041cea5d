"""A corpus of rendered videos on disk: corpus.toml, videos with subtitles, annotations, and a list of the test videos."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.datasets import write_step_intervals
from crosstask.datasets.corpus_toml import corpus_toml_text, write_corpus_toml
from crosstask.datasets.subtitles.webvtt import write_webvtt
from crosstask.jobs import Job, run_all
from crosstask.records import Cue, InputError, Narration, Task, VideoKey, Word
from crosstask.storage import nonblocking_lock, paths_in, read_text, write_text
from crosstask.synthetic.films.film import can_speak, render_film
from crosstask.synthetic.films.scenes import random_kitchen
from crosstask.synthetic.films.scripts import TASKS, Script, random_script

_RECORDS = ".rendered"  # of the rendered films


def render_corpus(
    folder: Path,
    seed: int = 0,
    videos_per_task: int = 12,
    test_videos_per_task: int = 4,
    tasks: Sequence[Task] = TASKS,
    spoken: bool = False,
    workers: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> list[VideoKey]:
    """Render a corpus into `folder`, under its lock; the keys of the test videos, whose kitchens have layouts that no training video has."""
    jobs, tested = [], []
    for number, task in enumerate(tasks):
        for i in range(videos_per_task):
            unusual = i >= videos_per_task - test_videos_per_task
            name = f"{task.id}-{i:02d}"
            jobs.append(
                Job(name, {"task": number, "video": i, "seed": seed, "unusual": unusual, "spoken": spoken and can_speak()})
            )
            if unusual:
                tested.append(VideoKey(task.id, name))
    work = partial(render_job, folder=str(folder.resolve()), tasks=[(t.id, t.title, list(t.steps)) for t in tasks])
    with nonblocking_lock(folder):
        _refuse_other_corpus(folder, tasks, seed)
        write_corpus_toml(folder / "corpus.toml", {task.id: task for task in tasks})
        run_all(work, jobs, folder / _RECORDS, workers=workers, advance=advance)
        write_text(folder / "test-videos.txt", "".join(f"{key}\n" for key in tested))
    return tested


def _refuse_other_corpus(folder: Path, tasks: Sequence[Task], seed: int) -> None:
    """An error for a folder with steps or videos that were not rendered here, or from another seed; what makes it ours is made first."""
    records, described = folder / _RECORDS, folder / "corpus.toml"
    there = [] if records.is_dir() else [path.name for path in paths_in(folder) if not path.name.startswith(".")]
    if there:
        raise InputError(f"{folder}: holds {there[0]}, and no films that were rendered here; name another folder")
    lists = [known[: n + 1] for known in (tasks, TASKS) for n in range(len(known))]
    if described.exists() and read_text(described) not in [corpus_toml_text({task.id: task for task in some}) for some in lists]:
        raise InputError(f"{described}: edited since the films were rendered, and would be overwritten; name another folder")
    for record in sorted(records.glob("*.json"))[:1]:
        if f'"seed": {seed}, ' not in read_text(record, "utf-8"):
            raise InputError(f"{folder}: holds films of another --seed, which would be overwritten; name another folder")
    records.mkdir(parents=True, exist_ok=True)


def render_job(values: Mapping[str, Any], folder: str, tasks: Sequence[tuple[str, str, list[str]]]) -> dict[str, Any]:
    """Render one video with its subtitles and annotation; its length in seconds."""
    identifier, title, steps = tasks[values["task"]]
    task = Task(identifier, title, tuple(steps))
    rng = np.random.default_rng([values["seed"], values["task"], values["video"]])
    script, kitchen = random_script(task, rng), random_kitchen(rng, values["unusual"])
    name = f"{identifier}-{values['video']:02d}"
    place = Path(folder) / "videos" / identifier
    render_film(place / f"{name}.mp4", script, kitchen, rng, values["spoken"])
    write_webvtt(place / f"{name}.vtt", narration_of_script(script), "synthetic")
    write_step_intervals(Path(folder) / "annotations" / f"{identifier}_{name}.csv", script.truth)
    return {"seconds": script.seconds}


def narration_of_script(script: Script) -> Narration:
    """The spoken lines of a script as timed words."""
    words: list[Word] = []
    cues: list[Cue] = []
    for line in script.lines:
        texts = line.text.split()
        step_s = (line.end_s - line.start_s) / len(texts)
        first = len(words)
        words += [Word(text, line.start_s + i * step_s, line.start_s + (i + 1) * step_s) for i, text in enumerate(texts)]
        cues.append(Cue(first, len(words), line.start_s, line.end_s))
    return Narration(tuple(words), tuple(cues), "en")
