"""A synthetic corpus with known truth, in memory or as a folder in the layout of the release."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crosstask.datasets.release import write_release
from crosstask.datasets.subtitles.webvtt import write_webvtt
from crosstask.features import FeaturesInMemory, write_rows
from crosstask.records import Corpus, FeatureRows, InputError, Narration, NoFeatures, StepInterval, Task, Video, VideoKey
from crosstask.storage import write_text
from crosstask.synthetic.appearance import (
    Projection,
    TaskAppearance,
    appearance_of_task,
    draw_features,
    draw_latents,
    draw_projection,
)
from crosstask.synthetic.narration import Mentions, draw_mentions, draw_narration
from crosstask.synthetic.random_streams import (
    FEATURE_STREAM,
    NARRATION_STREAM,
    PERMUTATION_STREAM,
    VIDEO_STREAM,
    generator,
)
from crosstask.synthetic.settings import Difficulty, Shape, difficulty_named, shape_named
from crosstask.synthetic.step_lists import all_tasks, first_tasks, permute_names
from crosstask.synthetic.timelines import TaskTiming, draw_n_seconds, draw_timeline, timing_of_task


def generate_corpus(
    shape: Shape | str = "demo", difficulty: Difficulty | str = "default", seed: int = 0, n_dimensions: int = 128
) -> Corpus:
    """A synthetic corpus in memory: tasks, videos, annotations of the primary tasks, windows, narration, (T, D) float16 features.

    >>> corpus = generate_corpus(Shape("tiny", 1, 1, 2, 0, 0, 1), n_dimensions=8)
    >>> [str(video.key) for video in corpus.videos], corpus.features.rows("1001v001").shape[1]
    (['1001_1001v001', '1001_1001v002', '1019_1019v001'], 8)
    """
    return _in_memory(_model(shape, difficulty, seed, n_dimensions))


def generate_with_permuted_names(
    shape: Shape | str = "demo", difficulty: Difficulty | str = "default", seed: int = 0, n_dimensions: int = 128
) -> Corpus:
    """A negative control: the same videos as `generate_corpus`, but with step names permuted, so that shared words carry no information."""
    model = _model(shape, difficulty, seed, n_dimensions)
    return _in_memory(replace(model, tasks=permuted_tasks(model.tasks, seed)))


def permuted_tasks(tasks: Mapping[str, Task], seed: int) -> dict[str, Task]:
    """The tasks by id with step names permuted as in `generate_with_permuted_names`."""
    return {task.id: task for task in permute_names(tuple(tasks.values()), generator(seed, PERMUTATION_STREAM))}


def generate_without_features(shape: Shape | str = "demo", difficulty: Difficulty | str = "default", seed: int = 0) -> Corpus:
    """The same corpus as `generate_corpus` without features; much faster, for statistics, windows and narration."""
    model = _model(shape, difficulty, seed, 1)
    return _corpus(model, _draw_videos(model), NoFeatures())


def write_synthetic(
    folder: str | Path,
    shape: Shape | str = "demo",
    difficulty: Difficulty | str = "default",
    seed: int = 0,
    n_dimensions: int = 128,
) -> Path:
    """`folder`, with the synthetic corpus written in the layout of the release; one video is in memory at a time."""
    folder = Path(folder)
    model = _model(shape, difficulty, seed, n_dimensions)
    videos = _draw_videos(model)
    for video in videos:
        write_rows(folder / "crosstask_features" / f"{video.video.id}.npy", video.features(model))
        write_webvtt(folder / "crosstask_subtitles" / f"{video.video.id}.vtt", video.narration(model), "synthetic")
    write_text(folder / "crosstask_features" / "recipe.txt", model.feature_spec + "\n")
    write_release(_corpus(model, videos, NoFeatures()), folder)
    return folder


@dataclass(frozen=True)
class _GenerativeModel:
    """Everything that is drawn before the first video."""

    shape: Shape
    difficulty: Difficulty
    seed: int
    n_dimensions: int
    tasks: Mapping[str, Task]  # as the corpus lists them; their names may be permuted

    @cached_property
    def true_tasks(self) -> dict[str, Task]:
        """Every task of the step lists with its true step names."""
        return {task.id: task for task in all_tasks()}

    @cached_property
    def timings(self) -> dict[str, TaskTiming]:
        """Timing parameters by task id."""
        return {t.id: timing_of_task(t.id, len(t.steps), self.shape, self.seed) for t in self.true_tasks.values()}

    @cached_property
    def appearances(self) -> dict[str, TaskAppearance]:
        """Appearance parameters by task id."""
        return {t.id: appearance_of_task(t.id, t.steps, self.seed) for t in self.true_tasks.values()}

    @cached_property
    def projection(self) -> Projection:
        """The map from latent vectors to features."""
        return draw_projection(self.n_dimensions, self.difficulty, self.seed)

    @property
    def feature_spec(self) -> str:
        """Text that identifies the features."""
        return f"synthetic: seed {self.seed}, {self.n_dimensions} columns, difficulty {self.difficulty.name}"


@dataclass(frozen=True)
class _SyntheticVideo:
    """A video before its features and narration are drawn."""

    video: Video
    shown_task: str  # its own task, or another one where the video is irrelevant
    n_seconds: int
    timeline: tuple[StepInterval, ...]
    mentions: Mentions

    def features(self, model: _GenerativeModel) -> npt.NDArray[np.float16]:
        """(T, D) features."""
        rng = self._rng(model, FEATURE_STREAM)
        latents = draw_latents(model.appearances[self.shown_task], self.timeline, self.n_seconds, model.difficulty, rng)
        return draw_features(latents, model.projection, rng)

    def narration(self, model: _GenerativeModel) -> Narration:
        """The spoken words: step names at their mentions and, in a relevant video, some where the steps are shown."""
        timeline = self.timeline if self.shown_task == self.video.task else ()
        steps = model.tasks[self.video.task].steps
        return draw_narration(steps, timeline, self.mentions, self.n_seconds, self._rng(model, NARRATION_STREAM))

    def _rng(self, model: _GenerativeModel, stream: str) -> np.random.Generator:
        return generator(model.seed, stream, self.video.task, self.video.id)


@dataclass(frozen=True)
class _SyntheticSubtitles(Mapping[str, Narration]):
    """Narration by video id, drawn on access."""

    model: _GenerativeModel
    videos: Mapping[str, _SyntheticVideo]

    def __getitem__(self, video_id: str) -> Narration:
        return self.videos[video_id].narration(self.model)

    def __iter__(self) -> Iterator[str]:
        return iter(self.videos)

    def __len__(self) -> int:
        return len(self.videos)


def _model(shape: Shape | str, difficulty: Difficulty | str, seed: int, n_dimensions: int) -> _GenerativeModel:
    if n_dimensions < 1 or seed < 0:
        raise InputError(
            f"synthetic corpus: {n_dimensions} dimensions, seed {seed}; expected at least 1 dimension and a seed of at least 0"
        )
    size = shape_named(shape)
    tasks = first_tasks(size.primary_tasks, size.related_tasks)
    return _GenerativeModel(size, difficulty_named(difficulty), seed, n_dimensions, {task.id: task for task in tasks})


def _draw_videos(model: _GenerativeModel) -> list[_SyntheticVideo]:
    """Every video of the corpus, task by task."""
    n_videos = {True: model.shape.videos_per_primary_task, False: model.shape.related_videos_per_task}
    return [_draw_video(model, task, number) for task in model.tasks.values() for number in range(1, n_videos[task.primary] + 1)]


def _draw_video(model: _GenerativeModel, task: Task, number: int) -> _SyntheticVideo:
    """One video; it depends on the seed, the task and the number alone."""
    video = Video(task.id, f"{task.id}v{number:03d}")
    rng = generator(model.seed, VIDEO_STREAM, video.task, video.id)
    others = sorted(other for other in model.true_tasks if other != task.id)
    irrelevant, other = rng.random() < model.difficulty.irrelevant_related_rate, others[int(rng.integers(len(others)))]
    shown_task = other if irrelevant and not task.primary else task.id
    n_seconds = draw_n_seconds(model.timings[shown_task], model.shape, rng)
    timeline = draw_timeline(model.timings[shown_task], n_seconds, rng)
    mentions = draw_mentions(
        timeline if shown_task == task.id else (),
        len(task.steps),
        n_seconds,
        model.difficulty.missed_window_rate,
        model.difficulty.early_mention_rate,
        rng,
    )
    return _SyntheticVideo(video, shown_task, n_seconds, timeline, mentions)


def _in_memory(model: _GenerativeModel) -> Corpus:
    videos = _draw_videos(model)
    return _corpus(model, videos, FeaturesInMemory({video.video.id: video.features(model) for video in videos}))


def _corpus(model: _GenerativeModel, videos: Sequence[_SyntheticVideo], features: FeatureRows) -> Corpus:
    """The corpus of some videos; as in the release, only videos of primary tasks are annotated."""
    annotated = [video for video in videos if model.tasks[video.video.task].primary]
    return Corpus(
        name=f"synthetic-{model.shape.name}-{model.difficulty.name}-{model.seed}",
        tasks=model.tasks,
        videos=tuple(video.video for video in videos),
        validation=frozenset(_validation(model, annotated)),
        seconds={video.video.id: video.n_seconds for video in videos},
        annotations={video.video.key: video.timeline for video in annotated},
        windows={video.video.key: video.mentions.windows for video in videos},
        subtitles=_SyntheticSubtitles(model, {video.video.id: video for video in videos}),
        features=features,
        feature_spec=model.feature_spec,
    )


def _validation(model: _GenerativeModel, annotated: Sequence[_SyntheticVideo]) -> Iterator[VideoKey]:
    """The first videos of each primary task."""
    for video in annotated:
        if int(video.video.id.rpartition("v")[2]) <= model.shape.validation_videos_per_task:
            yield video.video.key
