"""A corpus with subtitles -> windows for every video: the paper's plain recipe, and the best one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from crosstask.narration.collection import BestSettings, SpokenEvidence, best_windows
from crosstask.narration.plain import PlainSettings, plain_windows
from crosstask.narration.units import SpokenUnits, cue_windows, word_windows
from crosstask.records import Corpus, InputError, Narration, StepInterval, Task, Video, VideoKey
from crosstask.text.encoders import CachedEncoder, Encoder, Vectors, similarity_of
from crosstask.text.encoders.cooccurrence import cooccurrence_vectors
from crosstask.text.encoders.tfidf import TfIdf, fit_tfidf
from crosstask.text.encoders.word_vectors import MaxPooled

ENOUGH_WORDS = 20_000  # of speech, before a collection can teach word vectors; some thirty videos
Windows = dict[VideoKey, tuple[StepInterval, ...]]


@dataclass(frozen=True)
class NarratedVideo:
    """A video whose narration can be used, with its length."""

    video: Video
    narration: Narration
    n_segments: int


@dataclass(frozen=True)
class NarrationResult:
    """Windows of the videos that have usable subtitles, and why the others have none."""

    windows: Windows
    unusable: Mapping[VideoKey, str] = field(default_factory=dict)


def usable_videos(corpus: Corpus, videos: Iterable[Video]) -> tuple[list[NarratedVideo], dict[VideoKey, str]]:
    """The videos whose subtitles can give windows, and the reason for each other video that has subtitles."""
    usable, unusable = [], {}
    for video in videos:
        if video.id not in corpus.subtitles:
            continue
        try:
            narrated = NarratedVideo(video, corpus.subtitles[video.id], corpus.n_segments(video))
            reason = why_unusable(narrated, corpus.task_of(video))
        except InputError as problem:
            reason = str(problem)
        if reason:
            unusable[video.key] = reason
        else:
            usable.append(narrated)
    return usable, unusable


def why_unusable(video: NarratedVideo, task: Task) -> str:
    """What keeps a narration from giving windows, or nothing."""
    n_steps = len(task.steps)
    if len(video.narration.words) < n_steps:
        return f"{len(video.narration.words)} words are spoken; expected at least one for each of the {n_steps} steps"
    if video.n_segments < n_steps:
        return f"T = {video.n_segments} seconds cannot hold {n_steps} steps"
    if video.narration.words[0].start_s >= video.n_segments:
        return f"speech begins at {video.narration.words[0].start_s:.0f} s, after the {video.n_segments} s of the video"
    return ""


def transcripts(videos: Sequence[NarratedVideo]) -> list[str]:
    """What is said in each different video, as one document."""
    said = {video.video.id: video.narration for video in videos}
    return [" ".join(word.text for word in said[name].words) for name in sorted(said)]


def units_of(encoder: Encoder, narration: Narration, n_steps: int, settings: PlainSettings) -> SpokenUnits:
    """Pieces of speech for the plain recipe: windows of words where vectors are cheap, cues for a sentence encoder.

    A video of fewer cues than steps is cut into windows of words by either.
    """
    if encoder.identity.startswith("sentence"):
        cues = cue_windows(narration, neighbours=1)
        if len(cues) >= n_steps:
            return cues
    return word_windows(narration, settings.window_words)


def narrate_paper(
    corpus: Corpus,
    videos: Sequence[NarratedVideo],
    encoder: Encoder,
    settings: PlainSettings | None = None,
    advance: Callable[[], None] = lambda: None,
) -> NarrationResult:
    """Windows by the paper's recipe, each video for itself."""
    settings = settings or PlainSettings()
    windows: Windows = {}
    if encoder.identity.startswith("sentence"):
        _remember(encoder, videos, [1])
    for video in videos:
        steps = list(corpus.task_of(video.video).steps)
        units = units_of(encoder, video.narration, len(steps), settings)
        similarity = similarity_of(encoder, units.texts, steps)  # (L, K)
        windows[video.video.key] = plain_windows(units, similarity, video.n_segments, settings)
        advance()
    return NarrationResult(windows)


def narrate_best(
    corpus: Corpus,
    videos: Sequence[NarratedVideo],
    encoder: Encoder,
    settings: BestSettings | None = None,
    advance: Callable[[], None] = lambda: None,
) -> NarrationResult:
    """Windows by the best recipe, a task at a time."""
    settings = settings or BestSettings()
    listener = speech_matcher(encoder, transcripts(videos))
    _remember(encoder, videos, [0, 1])
    windows: Windows = {}
    by_task = sorted(videos, key=lambda v: v.video.key)
    for task_id, group in groupby(by_task, key=lambda v: v.video.task):
        members = list(group)
        heard = []
        for video in members:
            heard.append(spoken_evidence(corpus.tasks[task_id], video.narration, video.n_segments, listener))
            advance()
        found = best_windows(heard, listener.weights(settings), settings)
        windows |= {video.video.key: ws for video, ws in zip(members, found, strict=True)}
    return NarrationResult(windows)


def _remember(encoder: Encoder, videos: Sequence[NarratedVideo], neighbours: Sequence[int]) -> None:
    """Let an encoder that remembers see all cues at once, long before they are asked for one by one."""
    if isinstance(encoder, CachedEncoder):
        encoder.encode_missing(text for video in videos for n in neighbours for text in cue_windows(video.narration, n).texts)


def step_queries(task: Task) -> list[str]:
    """What a step is compared as: its name within its task, since "top toast" alone could top anything.

    >>> step_queries(Task("1", "Make Latte", ("pour milk",)))
    ['pour milk to make latte']
    """
    named = task.title and task.title not in ("new task", task.id)
    return [f"{step} to {task.title.lower()}" if named else step for step in task.steps]


@dataclass(frozen=True)
class SpeechMatcher:
    """What hears a narration: the encoder asked for, and what the collection's own words teach."""

    encoder: Encoder
    words: TfIdf
    own_vectors: MaxPooled | None  # word vectors of the collection itself, where it says enough to learn them

    @property
    def by_words(self) -> bool:
        """Whether the encoder is TF-IDF, which is one of the collection's own views anyway."""
        return isinstance(self.encoder, TfIdf)

    def weights(self, settings: BestSettings) -> tuple[float, ...]:
        """How much each similarity of `spoken_evidence` counts."""
        own = 1.0 if self.by_words else settings.own_vectors_weight
        names = (1.0, 1.0) if self.by_words else (1.0, 1.0, settings.words_weight)
        return names if self.own_vectors is None else (*names, own, own)


def speech_matcher(encoder: Encoder, documents: Sequence[str]) -> SpeechMatcher:
    """A listener that knows the words of some transcripts; word vectors need ENOUGH_WORDS of them."""
    enough = sum(document.count(" ") + 1 for document in documents) >= ENOUGH_WORDS
    return SpeechMatcher(encoder, fit_tfidf(documents), MaxPooled(cooccurrence_vectors(documents)) if enough else None)


def spoken_evidence(task: Task, narration: Narration, n_segments: int, listener: SpeechMatcher) -> SpokenEvidence:
    """The narration of a video as similarities to a task's steps: cues, and cues with neighbours, in every view there is."""
    units = cue_windows(narration, 0), cue_windows(narration, 1)
    views: list[Vectors] = []
    vectors: tuple[Vectors, ...] = ()
    if listener.by_words:
        views += [listener.words.similarity(unit.texts, task.steps) for unit in units]
    else:
        queries = listener.encoder.encode(step_queries(task))
        vectors = tuple(listener.encoder.encode(unit.texts) for unit in units)
        views += [view @ queries.T for view in vectors]
        views.append(listener.words.similarity(units[1].texts, task.steps))
    if listener.own_vectors is not None:
        names = listener.own_vectors.encode(task.steps)
        own = tuple(listener.own_vectors.encode(unit.texts) for unit in units)
        views += [view @ names.T for view in own]
        vectors = vectors or own
    return SpokenEvidence(units[0].start_s, units[0].end_s, n_segments, tuple(views), vectors)


# Name -> recipe: corpus, usable videos, encoder -> windows.
RECIPES: Mapping[str, Callable[..., NarrationResult]] = {"best": narrate_best, "paper": narrate_paper}


def recipe_named(name: str) -> Callable[..., NarrationResult]:
    """The recipe of that name."""
    if name not in RECIPES:
        raise InputError(f"recipe '{name}' is unknown; expected one of {', '.join(RECIPES)}")
    return RECIPES[name]
