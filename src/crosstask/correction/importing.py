"""Labels from a file of another program into a run folder, matched by video and step name; what does not match is listed, nothing is overwritten."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from crosstask.correction.label_files import NamedLabel, read_label_file
from crosstask.records import TOLERATED_OVERSHOOT_S, FoundStep, Interval, StepLabel, VideoKey
from crosstask.runs import RunFolder, RunLabel, RunVideo, label_of

SAME_S = 0.06  # seconds: formats round times to as much as a frame


@dataclass
class ImportReport:
    """What happened to the labels of a file; a label is one step of one video."""

    imported: dict[VideoKey, list[str]] = field(default_factory=dict)  # step names
    kept: list[str] = field(default_factory=list)  # steps that had a label already, which stays
    unchanged: int = 0  # steps that the machine found just so; they are not labels
    mismatches: list[str] = field(default_factory=list)

    @property
    def n_imported(self) -> int:
        """The number of labelled steps."""
        return sum(map(len, self.imported.values()))

    def to_json(self) -> dict[str, Any]:
        """The shape of `labels import --json`."""
        videos = {str(key): steps for key, steps in self.imported.items()}
        return {"imported": videos, "kept": self.kept, "unchanged": self.unchanged, "mismatches": self.mismatches}


def import_labels(run: RunFolder, path: Path, frames_per_second: float | None = None, confirm: bool = False) -> ImportReport:
    """Label the steps of a run as a file says; with `confirm`, steps that agree with the machine's answer are labelled as well.

    The frame rate is needed for Label Studio files alone, where they do not state it.
    """
    report = ImportReport()
    by_video: dict[VideoKey, dict[int, list[NamedLabel]]] = {}
    for key, step, named in _matched(run, read_label_file(path, frames_per_second), report):
        by_video.setdefault(key, {}).setdefault(step, []).append(named)
    videos = {video.key: video for video in run.run.videos}
    seen, existing, source = _last_change(run), run.labels.labels(), f"import {path.name}"
    said: dict[VideoKey, list[RunLabel]] = {}
    said_of: dict[tuple[str, str, int], VideoKey] = {}  # task, content of the file and step -> the video that was labelled
    for key, steps in by_video.items():
        for step, named_labels in sorted(steps.items()):
            name = run.run.tasks[key.task].steps[step]
            if step in existing.get(key, {}):
                report.kept.append(f"{key}, '{name}'")
            elif (twin := said_of.get((key.task, videos[key].content or str(key), step))) is not None:
                report.kept.append(f"{key}, '{name}' (the same file as {twin.video})")
            elif (label := _label(run, videos[key], step, named_labels, report, confirm)) is not None:
                said.setdefault(key, []).append(label)
                said_of[key.task, videos[key].content or str(key), step] = key
    if said:
        run.labels.append_all(said, source, seen=seen)
    report.imported = {key: [label.name for label in labels] for key, labels in said.items()}
    return report


def _last_change(run: RunFolder) -> int:
    changes = run.labels.changes()
    return changes[-1].id if changes else 0


def _matched(run: RunFolder, labels: Iterable[NamedLabel], report: ImportReport) -> Iterable[tuple[VideoKey, int, NamedLabel]]:
    """(video, step, label) of every label whose names the run has; for a step name that a list repeats, see `_placed`."""
    repeated: dict[tuple[VideoKey, str], list[NamedLabel]] = {}
    by_name: dict[str, list[VideoKey]] = {}
    for video in run.run.videos:
        for name in (str(video.key), video.id):
            by_name.setdefault(name, []).append(video.key)
    for label in sorted(_once(labels), key=_time):
        of_task = _of_task(run, by_name.get(label.video, []), label.task)
        keys = [key for key in of_task if label.step and _steps_named(run, key, label.step)]
        if not keys:
            report.mismatches.append(_mismatch(run, label, of_task))
        elif len(keys) > 1:
            report.mismatches.append(
                f"{label.where}: video '{label.video}' stands under {len(keys)} tasks with '{label.step}'; name the task"
            )
        elif len(steps := _steps_named(run, keys[0], label.step)) == 1:
            yield keys[0], steps[0], label
        else:
            repeated.setdefault((keys[0], _plain(label.step)), []).append(label)
    videos = {video.key: video for video in run.run.videos}
    for (key, name), named in repeated.items():
        steps = _steps_named(run, key, name)
        placed = _placed(run, videos[key], steps, named)
        for label, step in placed:
            yield key, step, label
        for label in named:
            if not any(label is other for other, _ in placed):
                report.mismatches.append(
                    f"{label.where}: '{label.step}' stands {len(steps)} times in the list, and once more in the file"
                )


def _once(labels: Iterable[NamedLabel]) -> Iterable[NamedLabel]:
    """The labels without intervals and moments that are said again, as by two annotators who agree."""
    said = set[NamedLabel]()
    for label in labels:
        what = replace(label, where="")
        if what not in said or not _is_shown(label):
            yield label
        said.add(what)


def _placed(run: RunFolder, video: RunVideo, steps: list[int], named: Sequence[NamedLabel]) -> list[tuple[NamedLabel, int]]:
    """Labels of a name that a list repeats, each with its step: the one whose answer it repeats, as in a file that `export` wrote.

    The others are taken in order of time, first for steps that are shown.
    """
    shown_now = run.localizations.get(next(iter(run.run.methods), ""), {}).get(video.key)
    answers = {step: [_found(run, video, step)] for step in steps}
    for step in steps if shown_now is not None else ():
        answers[step] += shown_now.steps[step : step + 1]  # type: ignore[union-attr]
    placed: list[tuple[NamedLabel, int]] = []
    free, rest = list(steps), list[NamedLabel]()
    for label in named:
        same = next((step for step in free if any(_repeats(answer, label) for answer in answers[step])), None)
        if same is None:
            rest.append(label)
        else:
            free.remove(same)
            placed.append((label, same))
    timed, denied = [n for n in rest if _is_shown(n)], [n for n in rest if not _is_shown(n)]
    chosen = sorted(sorted(free, key=lambda step: not answers[step][0].shown)[: len(timed)])
    left = [step for step in free if step not in chosen]
    return [*placed, *zip(timed, chosen, strict=False), *zip(denied, left, strict=False)]


def _is_shown(label: NamedLabel) -> bool:
    return label.interval is not None or label.moment_s is not None


def _repeats(answer: FoundStep, label: NamedLabel) -> bool:
    """True if a label says what an answer says; a file without "not shown" has the best guess for such a step (`export --all-steps`)."""
    if not _is_shown(label) or (label.says_shown and not answer.shown):
        return answer.shown == _is_shown(label)
    if label.interval is None:
        return label.moment_s is not None and abs(label.moment_s - answer.moment_s) <= SAME_S
    return abs(label.interval.start_s - answer.start_s) <= SAME_S and abs(label.interval.end_s - answer.end_s) <= SAME_S


def _time(label: NamedLabel) -> float:
    return label.interval.start_s if label.interval is not None else label.moment_s or 0.0


def _plain(name: str) -> str:
    """A name without differences of case and spaces.

    >>> _plain(" Pour  Milk ")
    'pour milk'
    """
    return " ".join(name.casefold().split())


def _of_task(run: RunFolder, keys: list[VideoKey], name: str) -> list[VideoKey]:
    """The videos of the task with this id or title, if one is named."""
    wanted = _plain(name)
    return [key for key in keys if not name or wanted in (_plain(key.task), _plain(run.run.tasks[key.task].title))]


def _steps_named(run: RunFolder, key: VideoKey, name: str) -> list[int]:
    return [k for k, step in enumerate(run.run.tasks[key.task].steps) if _plain(step) == _plain(name)]


def _mismatch(run: RunFolder, label: NamedLabel, keys: list[VideoKey]) -> str:
    if keys:
        return f"{label.where}: step '{label.step}' is not in the list of '{run.run.tasks[keys[0].task].title}'"
    under = f" under task '{label.task}'" if label.task else ""
    return f"{label.where}: the run has no video '{label.video}'{under}"


def _label(
    run: RunFolder, video: RunVideo, step: int, named: Sequence[NamedLabel], report: ImportReport, confirm: bool
) -> RunLabel | None:
    """The label of one step from all that a file says about it; None where it contradicts itself or says nothing new."""
    found = _found(run, video, step)
    where = f"{named[0].where}: '{found.name}' of {video.key}"
    if any((n.interval or Interval(0, n.moment_s or 0)).end_s > video.n_segments + TOLERATED_OVERSHOOT_S for n in named):
        report.mismatches.append(f"{where} ends after the video, which has {video.n_segments} s")
        return None
    said = _changed_moment(step, found, named) or _said(step, named)
    if said is None:
        report.mismatches.append(f"{where} has an interval, a moment or 'not shown' at the same time; expected one kind")
        return None
    if not confirm and _says_nothing_new(found, said, named):
        report.unchanged += 1
        return None
    return label_of(step, found, said, video.n_segments)


def _found(run: RunFolder, video: RunVideo, step: int) -> FoundStep:
    localization = run.machine_localizations.get(next(iter(run.run.methods), ""), {}).get(video.key)
    if localization is not None and step < len(localization.steps):
        return localization.steps[step]
    return FoundStep(run.run.tasks[video.task].steps[step], 0.0, 0.0, 0.0, 1.0, shown=False)


def _changed_moment(step: int, found: FoundStep, named: Sequence[NamedLabel]) -> StepLabel | None:
    """The moment of a row whose interval is the machine's, if somebody changed, marked or confirmed that alone."""
    (first, *more) = named
    if more or first.interval is None or first.moment_s is None or not found.shown:
        return None
    changed = _repeats(found, first) and (first.by_person or abs(first.moment_s - found.moment_s) > SAME_S)
    return StepLabel(step, moment_s=first.moment_s) if changed else None


def _said(step: int, named: Sequence[NamedLabel]) -> StepLabel | None:
    intervals = tuple(sorted(n.interval for n in named if n.interval is not None))
    moments = [n.moment_s for n in named if n.moment_s is not None and n.interval is None]
    denied = len(named) - len(intervals) - len(moments)
    if len(intervals) == len(named):
        return StepLabel(step, intervals=intervals)
    if len(moments) == len(named) == 1:
        return StepLabel(step, moment_s=moments[0])
    return StepLabel(step) if denied == len(named) else None


def _says_nothing_new(found: FoundStep, said: StepLabel, named: Sequence[NamedLabel]) -> bool:
    """True if a file repeats the machine's answer, and does not say that it comes from a person."""
    if all(n.by_person for n in named):
        return False
    if said.moment_s is not None:
        return (found.shown or not named[0].says_shown) and abs(said.moment_s - found.moment_s) <= SAME_S
    return all(_repeats(found, n) for n in named)
