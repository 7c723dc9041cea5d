"""What a user does to a folder of videos and in its runs: each action takes two numbers that choose the file, the step or the answer."""

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from crosstask.datasets import write_step_intervals
from crosstask.model.file import load_model
from crosstask.pipeline.relearning import accept, can_undo_learning, learn, undo_learning
from crosstask.pipeline.viewer_backend import features_for_run
from crosstask.records import InputError, Interval, StepLabel
from crosstask.runs import open_run
from crosstask.viewer.annotations import AnnotationStore
from faults.user_folder import N_CONTENTS, WORDS, RunView, Said, UserFolder, content, subtitles
from faults.warm import run_verb

RUNS = ("run", "other")
ENDS_OK = (0, 2)
Action = Callable[[UserFolder, int, int], None]


def command(user: UserFolder, *arguments: object) -> tuple[int, str, str]:
    """The exit code of a command, what it printed, and its messages; the files of the user are as before."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run_verb([str(argument) for argument in arguments])
    assert code in ENDS_OK and "Traceback" not in err.getvalue(), (arguments, code, err.getvalue())
    assert user.changed_files() == [], f"{arguments[0]} changed files of the user"
    return code, out.getvalue(), err.getvalue()


# What a user does to the files.


def pick(values: list[str], number: int) -> str | None:
    return values[number % len(values)] if values else None


def on_video(change: Callable[[UserFolder, str, int], None]) -> Action:
    """The action on one of the videos, if there is any."""

    def act(user: UserFolder, a: int, b: int) -> None:
        if (name := pick(user.named(".mp4"), a)) is not None:
            change(user, name, b)

    return act


def add_video(user: UserFolder, a: int, b: int) -> None:
    name = f"videos/{pick(list(user.tasks), a)}/{'abc'[b % 3]}.mp4"
    user.write(name, content((a + b) % N_CONTENTS))


def restore_video(user: UserFolder, a: int, b: int) -> None:
    if user.removed:
        name, data = user.removed[a % len(user.removed)]
        user.write(name, data)


def rename_video(user: UserFolder, name: str, b: int) -> None:
    target = f"{name.rpartition('/')[0]}/{'abcd'[b % 4]}"
    user.move(name, f"{target}.mp4")
    if b // 4 % 2 and f"{name[:-4]}.srt" in user.files:
        user.move(f"{name[:-4]}.srt", f"{target}.srt")


def move_video(user: UserFolder, name: str, b: int) -> None:
    user.move(name, f"videos/{pick(list(user.tasks), b)}/{name.rpartition('/')[2]}")


def remove_subtitles(user: UserFolder, a: int, b: int) -> None:
    if (name := pick(user.named(".srt"), a)) is not None:
        user.remove(name)


def on_steps(change: Callable[[list[str], int], None]) -> Action:
    """The action on the steps of one of the tasks."""

    def act(user: UserFolder, a: int, b: int) -> None:
        steps = user.tasks[list(user.tasks)[a % len(user.tasks)]]
        change(steps, b)
        user.write_steps()

    return act


def rename_step(steps: list[str], b: int) -> None:
    steps[b % len(steps)] = WORDS[b // 3 % len(WORDS)]


def insert_step(steps: list[str], b: int) -> None:
    if len(steps) < 4:
        steps.insert(b % (len(steps) + 1), WORDS[b // 3 % len(WORDS)])


def remove_step(steps: list[str], b: int) -> None:
    if len(steps) > 1:
        del steps[b % len(steps)]


def rename_task(user: UserFolder, a: int, b: int) -> None:
    old, new = list(user.tasks)[a % len(user.tasks)], ("latte", "tea", "cocoa")[b % 3]
    if new not in user.tasks:
        user.tasks = {new if task == old else task: steps for task, steps in user.tasks.items()}
        user.write_steps()
        for name in [name for name in user.files if name.startswith(f"videos/{old}/") and b // 3 % 2]:
            user.move(name, name.replace(f"/{old}/", f"/{new}/"))


def remove_task(user: UserFolder, a: int, b: int) -> None:
    if len(user.tasks) > 1:
        del user.tasks[list(user.tasks)[a % len(user.tasks)]]
        user.write_steps()


# Commands.


def run(user: UserFolder, a: int, b: int) -> None:
    run_into(user, RUNS[a % 5 == 0], seed=b % 2, features=("log-mel", "light")[b % 7 == 0])


def run_into(user: UserFolder, name: str, seed: int = 0, features: str = "log-mel", *more: str) -> tuple[int, str, str]:
    options = ("--workers", 1, "--features", features, "--seed", seed, "--out", user.out(name), *more)
    done = command(user, "run", user.corpus, *options)
    if done[0] == 0:
        user.runs.setdefault(name, RunView()).contents = user.contents()
    return done


def in_run(user: UserFolder, a: int) -> tuple[Path, RunView] | None:
    """One of the run folders, and what it shows."""
    names = [name for name in user.runs if (user.out(name) / "run.json").is_file()]
    return (user.out(name), user.runs[name]) if (name := pick(names, a)) is not None else None


def store_of(out: Path) -> AnnotationStore:
    return AnnotationStore(open_run(out), write_step_intervals)


def said_since(store: AnnotationStore, view: RunView, before: int) -> None:
    """Note what was said after a change."""
    for change in store.run.labels.changes():
        if change.id > before:
            view.said.append(Said(change.id, view.contents[change.key], change.key.task, change.labels, change.drawn))


def last_change(store: AnnotationStore) -> int:
    return max((change.id for change in store.run.labels.changes()), default=0)


def answer(user: UserFolder, a: int, b: int) -> None:
    """Label a step in the viewer or in a review."""
    if (found := in_run(user, a)) is None:
        return
    out, view = found
    store = store_of(out)
    video = store.run.run.videos[b % len(store.run.run.videos)]
    step = a // 2 % len(store.run.run.tasks[video.task].steps)
    second = float(b % (video.n_segments - 1))
    before, drawn = last_change(store), (None, "gain", "random")[a % 3]
    kinds = (
        StepLabel(step, moment_s=second),
        StepLabel(step, intervals=(Interval(second, second + 1),)),
        StepLabel(step),
        None,
    )
    if b // 5 % 5 == 4:
        store.confirm_step(video.key, step, drawn)
    else:
        store.label_step(video.key, step, kinds[b // 5 % 5], drawn)
    said_since(store, view, before)


def save_page(user: UserFolder, a: int, b: int) -> None:
    """Save all steps of a video on its page."""
    if (found := in_run(user, a)) is not None:
        store = store_of(found[0])
        before, video = last_change(store), store.run.run.videos[b % len(store.run.run.videos)]
        store.save_annotation(video.key, store.read_annotation(video.key, store.run.run.tasks[video.task]) or ())
        said_since(store, found[1], before)


def open_viewer(user: UserFolder, a: int, b: int) -> None:
    if (found := in_run(user, a)) is not None:
        user.viewers.append((store_of(found[0]), found[1], dict(found[1].contents)))


def answer_in_open_viewer(user: UserFolder, a: int, b: int) -> None:
    """Label a step where the files or the run may have changed since the viewer was opened: refused, or a label of the file that was shown."""
    if user.viewers:
        store, view, contents = user.viewers[a % len(user.viewers)]
        video = store.run.run.videos[b % len(store.run.run.videos)]
        try:
            change = store.label_step(video.key, 0, StepLabel(0, moment_s=float(b % 4)), (None, "random")[a % 2])
        except InputError:
            return
        view.said.append(Said(change.id, contents[change.key], change.key.task, change.labels, change.drawn))


def import_labels(user: UserFolder, a: int, b: int) -> None:
    if (found := in_run(user, a)) is None:
        return
    store, file = store_of(found[0]), user.root / "labels.csv"
    before, video = last_change(store), store.run.run.videos[b % len(store.run.run.videos)]
    step = store.run.run.tasks[video.task].steps[a % 2 - 1]
    file.write_text(f"task,video,step,start_s,end_s\n{video.task},{video.id},{step},{b % 4},{b % 4 + 1}\n")
    command(user, "labels", "import", file, "--run", found[0])
    said_since(store, found[1], before)


def undo(user: UserFolder, a: int, b: int) -> None:
    if (found := in_run(user, a)) is not None and found[1].said:
        said = found[1].said.pop(b % len(found[1].said))
        store_of(found[0]).undo(said.number)


def judge(user: UserFolder, a: int, b: int) -> None:
    if (found := in_run(user, a)) is None:
        return
    store, view = store_of(found[0]), found[1]
    key = store.run.run.videos[b % len(store.run.run.videos)].key
    relevance = ("irrelevant", "relevant", None)[a % 3]
    store.save_relevance(key, relevance)
    view.relevance.pop((view.contents[key], key.task), None)
    if relevance is not None:
        view.relevance[view.contents[key], key.task] = relevance


def learn_again(user: UserFolder, a: int, b: int) -> None:
    if (found := in_run(user, a)) is None:
        return
    opened = open_run(found[0])
    try:
        if b % 3 == 0 and can_undo_learning(found[0]):
            undo_learning(opened)
        else:
            accept(opened, learn(opened, load_model(found[0] / "model.safetensors"), features_for_run(opened, user.corpus)))
    except InputError:
        pass


def train(user: UserFolder, a: int, b: int) -> None:
    command(user, "train", user.corpus, "--out", user.root / "model.safetensors")


COMMANDS = ("narrate", "pack", "stats", "validate")
ACTIONS: dict[str, Action] = {
    "add video": add_video,
    "replace video": on_video(lambda user, name, b: user.write(name, content(b % N_CONTENTS))),
    "rename video": on_video(rename_video),
    "move video": on_video(move_video),
    "remove video": on_video(lambda user, name, b: user.remove(name)),
    "restore file": restore_video,
    "write subtitles": on_video(lambda user, name, b: user.write(f"{name[:-4]}.srt", subtitles(b % 4))),
    "remove subtitles": remove_subtitles,
    "rename step": on_steps(rename_step),
    "reverse steps": on_steps(lambda steps, b: steps.reverse()),
    "insert step": on_steps(insert_step),
    "remove step": on_steps(remove_step),
    "rename task": rename_task,
    "remove task": remove_task,
    "move corpus": lambda user, a, b: user.move_all(),
    "run": run,
    "answer": answer,
    "save page": save_page,
    "import labels": import_labels,
    "undo": undo,
    "open viewer": open_viewer,
    "answer in open viewer": answer_in_open_viewer,
    "judge": judge,
    "learn again": learn_again,
    "extract": lambda user, a, b: command(
        user, "extract", user.corpus, "--features", ("log-mel", "light")[b % 4 == 0], "--workers", 1
    ),
    "train": train,
    "other command": lambda user, a, b: command(user, COMMANDS[a % len(COMMANDS)], user.corpus),
}
WEIGHTS = {"run": 3, "answer": 4, "replace video": 2, "rename video": 2}  # how often an action is drawn, where not once
