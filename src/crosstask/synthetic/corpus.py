"""The planted corpus: a world whose truth is known, in memory or as a folder of the published layout."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crosstask.datasets.release import write_release
from crosstask.features import FeaturesInMemory, write_feature_spec, write_rows
from crosstask.records import Corpus, FeatureRows, InputError, Narration, NoFeatures, StepInterval, Task, Video, VideoKey
from crosstask.storage import write_text
from crosstask.synthetic.appearance import Camera, TaskLook, camera, draw_pictures, look_of_task, take_rows
from crosstask.synthetic.matched import MATCHED, MatchedDifficulty
from crosstask.synthetic.measured import (
    MEASURED,
    MeasuredDifficulty,
    draw_measured_pictures,
    measured_camera,
    measured_look,
    take_measured_rows,
)
from crosstask.synthetic.plain_lists import plain_catalogue
from crosstask.synthetic.random_streams import generator
from crosstask.synthetic.settings import DIFFICULTIES, Difficulty, Shape, named, shape_named
from crosstask.synthetic.speech import Mentions, draw_mentions, draw_narration, webvtt_text
from crosstask.synthetic.step_lists import catalogue, permute_names, tasks_of_shape
from crosstask.synthetic.timelines import Habits, draw_seconds, draw_timeline, habits_of

AnyDifficulty = Difficulty | MeasuredDifficulty  # of the first world; of the second, or as `MatchedDifficulty` of the third


@dataclass(frozen=True)
class World:
    """Everything that is decided before the first video: the tasks as they are, and as their steps are called."""

    shape: Shape
    difficulty: AnyDifficulty
    seed: int
    n_dimensions: int
    called: Mapping[str, Task]  # as the corpus lists them; the truth is in the catalogue

    @cached_property
    def truth(self) -> dict[str, Task]:
        """Every task of the catalogue with its true step names."""
        return {task.id: task for task in _catalogue_of(self.difficulty)}

    @cached_property
    def habits(self) -> dict[str, Habits]:
        """Habits of every task of the catalogue."""
        return {t.id: habits_of(t.id, len(t.steps), self.shape, self.seed) for t in self.truth.values()}

    @cached_property
    def looks(self) -> dict[str, TaskLook]:
        """Look of every task of the catalogue."""
        look = measured_look if isinstance(self.difficulty, MeasuredDifficulty) else look_of_task
        return {t.id: look(t.id, t.steps, self.seed) for t in self.truth.values()}

    @cached_property
    def camera(self) -> Camera:
        """What turns pictures into rows."""
        if isinstance(self.difficulty, MeasuredDifficulty):
            return measured_camera(self.n_dimensions, self.difficulty, self.seed)
        return camera(self.n_dimensions, self.difficulty, self.seed)

    @property
    def feature_spec(self) -> str:
        """What the columns are."""
        return f"planted: seed {self.seed}, {self.n_dimensions} columns, difficulty {self.difficulty.name}"


@dataclass(frozen=True)
class SyntheticVideo:
    """What is known of one video before it is filmed."""

    video: Video
    shows: str  # the task it really shows: its own, or another's where it is irrelevant
    n_seconds: int
    timeline: tuple[StepInterval, ...]
    mentions: Mentions

    def rng(self, world: World, what: str) -> np.random.Generator:
        """A generator of this video alone."""
        return generator(world.seed, what, self.video.task, self.video.id)

    def rows(self, world: World) -> npt.NDArray[np.float16]:
        """(T, D)."""
        rng, look = self.rng(world, "rows"), world.looks[self.shows]
        if isinstance(world.difficulty, MeasuredDifficulty):
            pictures = draw_measured_pictures(look, self.timeline, self.n_seconds, world.difficulty, rng)
            return take_measured_rows(pictures, world.camera, rng)
        return take_rows(draw_pictures(look, self.timeline, self.n_seconds, world.difficulty, rng), world.camera, rng)

    def narration(self, world: World) -> Narration:
        """What is said: the steps as they are called, at their mentions and, in a relevant video, where they are shown."""
        timeline = self.timeline if self.shows == self.video.task else ()
        steps = world.called[self.video.task].steps
        return draw_narration(steps, timeline, self.mentions, self.n_seconds, self.rng(world, "speech"))


@dataclass(frozen=True)
class SyntheticSubtitles(Mapping[str, Narration]):
    """The narration of each video, drawn when asked for."""

    world: World
    planted: Mapping[str, SyntheticVideo]

    def __getitem__(self, video_id: str) -> Narration:
        """What is said in a video."""
        return self.planted[video_id].narration(self.world)

    def __iter__(self) -> Iterator[str]:
        """Video ids."""
        return iter(self.planted)

    def __len__(self) -> int:
        """How many videos there are."""
        return len(self.planted)


def generate_corpus(
    shape: Shape | str = "demo", difficulty: AnyDifficulty | str = "default", seed: int = 0, n_dimensions: int = 128
) -> Corpus:
    """A planted corpus in memory: tasks, videos, truth of the primary tasks, windows, speech, float16 rows of any width.

    >>> corpus = plant(Shape("tiny", 1, 1, 2, 0, 0, 1), n_dimensions=8)
    >>> [str(video.key) for video in corpus.videos], corpus.features.rows("1001v001").shape[1]
    (['1001_1001v001', '1001_1001v002', '1019_1019v001'], 8)
    """
    return _in_memory(_world(shape, difficulty, seed, n_dimensions))


def generate_with_permuted_names(
    shape: Shape | str = "demo", difficulty: AnyDifficulty | str = "default", seed: int = 0, n_dimensions: int = 128
) -> Corpus:
    """The negative control: the very same videos, but the step names dealt anew, so that a shared word tells nothing."""
    return _in_memory(_with_permuted_names(_world(shape, difficulty, seed, n_dimensions)))


def generate_without_features(shape: Shape | str = "demo", difficulty: AnyDifficulty | str = "default", seed: int = 0) -> Corpus:
    """The same corpus as `plant` with nothing filmed: enough for statistics, windows and speech, at once."""
    world = _world(shape, difficulty, seed, 1)
    return _corpus(world, _all_videos(world), NoFeatures())


def write_synthetic(
    folder: Path, shape: Shape | str = "demo", difficulty: AnyDifficulty | str = "default", seed: int = 0, n_dimensions: int = 128
) -> Path:
    """`folder`, now holding the planted corpus in the published layout; one video is in memory at a time."""
    world = _world(shape, difficulty, seed, n_dimensions)
    planted = _all_videos(world)
    for video in planted:
        write_rows(folder / "crosstask_features" / f"{video.video.id}.npy", video.rows(world))
        write_text(folder / "crosstask_subtitles" / f"{video.video.id}.vtt", webvtt_text(video.narration(world)))
    write_feature_spec(folder / "crosstask_features", world.feature_spec)
    write_release(_corpus(world, planted, NoFeatures()), folder)
    return folder


def _world(shape: Shape | str, difficulty: AnyDifficulty | str, seed: int, n_dimensions: int) -> World:
    if n_dimensions < 1 or seed < 0:
        raise InputError(f"planted corpus: {n_dimensions} dimensions, seed {seed}; expected at least 1, and no negative seed")
    chosen = shape_named(shape)
    how_hard = _difficulty(difficulty)
    tasks = tasks_of_shape(chosen.primary_tasks, chosen.related_tasks, _catalogue_of(how_hard))
    return World(chosen, how_hard, seed, n_dimensions, {task.id: task for task in tasks})


def _difficulty(difficulty: AnyDifficulty | str) -> AnyDifficulty:
    both: Mapping[str, AnyDifficulty] = {**DIFFICULTIES, **MEASURED, **MATCHED}
    return named(difficulty, both, "difficulty") if isinstance(difficulty, str) else difficulty


def _catalogue_of(difficulty: AnyDifficulty) -> tuple[Task, ...]:
    """All tasks of the world a difficulty belongs to."""
    return plain_catalogue() if isinstance(difficulty, MatchedDifficulty) else catalogue()


def _with_permuted_names(world: World) -> World:
    dealt = permute_names(tuple(world.called.values()), generator(world.seed, "permuted names"))
    return World(world.shape, world.difficulty, world.seed, world.n_dimensions, {task.id: task for task in dealt})


def _all_videos(world: World) -> list[SyntheticVideo]:
    """Every video of a world, task by task."""
    n_videos = {True: world.shape.videos_per_primary_task, False: world.shape.related_videos_per_task}
    return [_draw_video(world, task, number) for task in world.called.values() for number in range(1, n_videos[task.primary] + 1)]


def _draw_video(world: World, task: Task, number: int) -> SyntheticVideo:
    """One video, a function of (seed, task, number) alone."""
    video = Video(task.id, f"{task.id}v{number:03d}")
    rng = generator(world.seed, "video", video.task, video.id)
    others = sorted(other for other in world.truth if other != task.id)
    irrelevant, elsewhere = rng.random() < world.difficulty.irrelevant_related, others[int(rng.integers(len(others)))]
    shows = elsewhere if irrelevant and not task.primary else task.id
    n_seconds = draw_seconds(world.habits[shows], world.shape, rng)
    timeline = draw_timeline(world.habits[shows], n_seconds, rng)
    heard = timeline if shows == task.id else ()
    early = world.difficulty.early if isinstance(world.difficulty, MeasuredDifficulty) else 0.5
    mentions = draw_mentions(heard, len(task.steps), n_seconds, world.difficulty.outside, rng, early)
    return SyntheticVideo(video, shows, n_seconds, timeline, mentions)


def _in_memory(world: World) -> Corpus:
    planted = _all_videos(world)
    return _corpus(world, planted, FeaturesInMemory({video.video.id: video.rows(world) for video in planted}))


def _corpus(world: World, planted: Sequence[SyntheticVideo], features: FeatureRows) -> Corpus:
    """The records of a world; as in the release, only the videos of primary tasks are annotated."""
    annotated = [video for video in planted if world.called[video.video.task].primary]
    return Corpus(
        name=f"planted-{world.shape.name}-{world.difficulty.name}-{world.seed}",
        tasks=world.called,
        videos=tuple(video.video for video in planted),
        validation=frozenset(_validation(world, annotated)),
        seconds={video.video.id: video.n_seconds for video in planted},
        annotations={video.video.key: video.timeline for video in annotated},
        windows={video.video.key: video.mentions.windows for video in planted},
        subtitles=SyntheticSubtitles(world, {video.video.id: video for video in planted}),
        features=features,
        feature_spec=world.feature_spec,
    )


def _validation(world: World, annotated: Sequence[SyntheticVideo]) -> Iterator[VideoKey]:
    """The first videos of each primary task."""
    for video in annotated:
        if int(video.video.id.rpartition("v")[2]) <= world.shape.validation_videos_per_task:
            yield video.video.key
