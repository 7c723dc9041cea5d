"""A trained model: a scorer with its step lists, feature spec and the decoder around it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.features.pack import finite_rows
from crosstask.inference import DECODERS, decoder_of
from crosstask.methods.protocols import Scorer
from crosstask.methods.text_prior import with_text_side
from crosstask.model.joint_localization import localize_with_narration, narration_for
from crosstask.model.localization import labels_kept, localization_of, video_scores
from crosstask.records import InputError, Localization, StepLabel, Task, VideoKey, choice_argument, path_argument, task_from_steps
from crosstask.text.stems import words_as_written

Video = str | Path | npt.NDArray[np.floating]


@dataclass(frozen=True, repr=False)
class Model:
    """A trained scorer and everything needed to use it on a new video; `train` and `load_model` make one."""

    scorer: Scorer
    tasks: Mapping[str, Task]
    method: str = "zhukov19"
    feature_spec: str = "unknown"
    trained_on: frozenset[VideoKey] = frozenset()
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    weights: Mapping[str, Path] = field(default_factory=dict, compare=False)  # of backbones, on this computer; not saved

    def score(self, task: Task | str, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K), higher is better; `task` is a Task, or the id or title of one the model knows."""
        return self.scorer.score(task if isinstance(task, Task) else self.task_named(task), _checked_array(features))

    def localize(
        self,
        video: Video,
        task: Task | str | None = None,
        steps: str | Sequence[str] | None = None,
        decoder: str | None = None,
        narration: str | Path | None = "auto",
        labels: Sequence[StepLabel] = (),
    ) -> Localization:
        """Where each step happens in a video file, a feature file (.npy) or an array (T, D), for a known task or a new step list.

        `narration` is a subtitle file to use beside the features; "auto" takes subtitles beside a video file, None features alone.
        With `labels` of some steps by a person, the other steps are found given these, from the features alone.
        """
        wanted = self.task_wanted(task, steps)
        choice_argument(decoder, "decoder", DECODERS)
        labels = _checked_labels(labels, wanted)
        rows, name = self._features_of(video)
        if len(rows) < len(wanted.steps):
            raise InputError(
                f"{name or 'the video'}: {len(rows)} segments cannot hold {len(wanted.steps)} steps in order; "
                "give a longer video or fewer steps"
            )
        said = None if labels else narration_for(self, video, narration, self.feature_spec)
        if said is not None:
            found = localize_with_narration(self, wanted, rows, said, name, decoder_of(self, decoder))
            if found is not None:
                return found
        scored = video_scores(self, wanted, rows, labels)
        return labels_kept(localization_of(wanted, scored, name, decoder_of(self, decoder)), labels)

    def task_wanted(self, task: Task | str | None, steps: str | Sequence[str] | None) -> Task:
        """The task by id or title, or a new one from its steps."""
        if (task is None) == (steps is None):
            raise InputError('say which steps to look for: either a task, or steps such as "pour milk, whisk egg"')
        if task is None:
            return task_from_steps("" if steps is None else steps)
        return task if isinstance(task, Task) else self.task_named(task)

    def task_named(self, name: str) -> Task:
        """A task that the model knows, by id or by title in any case."""
        known = {t.title.lower(): t for t in self.tasks.values()} | {t.id: t for t in self.tasks.values()}
        found = known.get(str(name)) or known.get(str(name).lower())
        alike = [t.id for t in self.tasks.values() if t.title.lower() == str(name).lower()]
        if len(alike) > 1 and name not in self.tasks:
            raise InputError(f"task '{name!s:.60}' is the title of {len(alike)} tasks; expected an id: {', '.join(alike[:5])}")
        if found is None:
            from difflib import get_close_matches

            near = get_close_matches(str(name).lower(), known, n=3, cutoff=0.4)
            some = ", ".join(sorted(self.tasks)[:3]) + (" ..." if len(self.tasks) > 3 else "")
            hint = f"did you mean {' or '.join(near)}?" if near else f"it knows {len(self.tasks)} by id: {some}."
            raise InputError(f"task '{name!s:.60}' is not in the model; {hint} For a new task, give its steps instead")
        return found

    def unknown_words(self, task: Task) -> tuple[str, ...]:
        """Words of the task's steps that were never trained, as they are written there."""
        unknown = getattr(self.scorer, "unknown_words", None)
        return () if unknown is None else words_as_written(unknown(task), task.steps)

    def unknown_steps(self, task: Task) -> list[str]:
        """Steps none of whose words was trained: they are placed by order and position alone."""
        unknown = getattr(self.scorer, "unknown_steps", None)
        return [] if unknown is None else list(unknown(task))

    def _features_of(self, video: Video) -> tuple[npt.NDArray[np.floating], str]:
        """(T, D) of a video, and its name for messages."""
        if isinstance(video, np.ndarray):
            return _checked_array(video), ""
        if not isinstance(video, str | Path):
            raise InputError(f"a {type(video).__name__} is not a video; expected a video file, a feature file or an array (T, D)")
        from crosstask.model.video_features import features_of_file

        path = path_argument(video, "a video file or a feature file")
        return finite_rows(features_of_file(path, self.feature_spec, self.weights), path.stem), path.stem

    def with_features(self, features: str) -> "Model":
        """The same model, told where the weights of its features are on this computer: "clip=FOLDER".

        It can then extract features of videos, and knows the text side of image-text features for new step names.
        """
        from crosstask.extraction.feature_spec import parse_feature_spec, text_side_of

        spec = parse_feature_spec(features)
        if self.feature_spec not in ("unknown", str(spec)):
            raise InputError(
                f"--features {features}: is '{spec}'; the model was trained on '{self.feature_spec}': give its folder"
            )
        weights = {backbone.name: Path(backbone.weights) for backbone in spec.backbones if backbone.weights}
        found: Model = with_text_side(self, text_side_of(spec))
        return replace(found, weights=weights)

    def save(self, path: str | Path) -> Path:
        """`path`, now containing the model as one .safetensors file."""
        from crosstask.model.file import save_model

        return save_model(self, path)

    def _repr_html_(self) -> str:
        """A small table for notebooks: at most 30 tasks."""
        from html import escape

        rows = "".join(f"<tr><td>{escape(t.id)}</td><td>{escape(t.title)}</td></tr>" for t in list(self.tasks.values())[:30])
        return f"<table><caption>{escape(repr(self))}</caption><tr><th>task</th><th>title</th></tr>{rows}</table>"

    def __repr__(self) -> str:
        """Method, tasks, features and training videos in one line."""
        return (
            f"Model(method='{self.method}', {len(self.tasks)} tasks, features='{self.feature_spec}', "
            f"trained on {len(self.trained_on)} videos, seed={self.seed})"
        )


def _checked_array(features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """The features (T, D) themselves, or an error for anything else."""
    if not isinstance(features, np.ndarray):
        raise InputError(f"a {type(features).__name__} is not an array; expected features (T, D) in floating point")
    if features.ndim != 2 or not len(features) or features.dtype.kind != "f":
        raise InputError(
            f"an array of shape {features.shape} and type {features.dtype}; expected features (T, D) in floating point"
        )
    return finite_rows(features, "the video")


def _checked_labels(labels: object, task: Task) -> tuple[StepLabel, ...]:
    """The labels of steps of a task, or an error for anything else."""
    listed = tuple(labels) if isinstance(labels, Iterable) else (labels,)
    for label in listed:
        if not isinstance(label, StepLabel) or label.step >= len(task.steps):
            raise InputError(f"labels has {label!r:.60}; expected StepLabels of the {len(task.steps)} steps, numbered from 0")
    return listed
