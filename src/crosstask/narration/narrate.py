"""A corpus with subtitles -> windows for every video, by the two values of `narrate --recipe`: `paper` and `best` (collection.py)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from crosstask.narration.collection import CollectionSettings, SpokenEvidence, collection_windows
from crosstask.narration.language import why_languages_differ
from crosstask.narration.paper import PaperSettings, paper_windows
from crosstask.narration.units import SpokenUnits, cue_windows, word_windows
from crosstask.records import Corpus, InputError, Narration, StepInterval, Task, Video, VideoKey
from crosstask.text.encoders import CachedEncoder, Encoder, Vectors, similarity_of
from crosstask.text.encoders.cooccurrence import cooccurrence_vectors
from crosstask.text.encoders.tfidf import TfIdf, fit_tfidf
from crosstask.text.encoders.word_vectors import MaxPooled

MIN_WORDS = 20_000  # of speech for training word vectors on a collection; about thirty videos
Windows = dict[VideoKey, tuple[StepInterval, ...]]


@dataclass(frozen=True)
class NarratedVideo:
    """A video with a usable narration, and its number of segments."""

    video: Video
    narration: Narration
    n_segments: int


@dataclass(frozen=True)
class NarrationResult:
    """Windows of the videos with usable subtitles, and the reason for each video without windows."""

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
            usable.append(replace(narrated, narration=narrated.narration.until(narrated.n_segments)))
    return usable, unusable


def why_unusable(video: NarratedVideo, task: Task) -> str:
    """The reason why windows cannot be computed from a narration, or an empty string."""
    n_steps = len(task.steps)
    if len(video.narration.words) < n_steps:
        return f"{len(video.narration.words)} words are spoken; expected at least one for each of the {n_steps} steps"
    if video.n_segments < n_steps:
        return f"T = {video.n_segments} seconds cannot hold {n_steps} steps"
    if video.narration.words[0].start_s >= video.n_segments:
        return f"speech begins at {video.narration.words[0].start_s:.0f} s, after the {video.n_segments} s of the video"
    if (n_words := len(video.narration.until(video.n_segments).words)) < n_steps:
        return f"{n_words} words are spoken within the {video.n_segments} s of the video; expected one for each of the {n_steps} steps"
    return why_languages_differ(video.narration, task)


def transcripts(videos: Sequence[NarratedVideo]) -> list[str]:
    """The transcript of each different video, as one document."""
    narrations = {video.video.id: video.narration for video in videos}
    return [" ".join(word.text for word in narrations[name].words) for name in sorted(narrations)]


def units_of(encoder: Encoder, narration: Narration, n_steps: int, settings: PaperSettings) -> SpokenUnits:
    """Units of speech for `narrate_paper`: windows of words where encoding is cheap, cues for a sentence encoder.

    A video with fewer cues than steps is split into windows of words in both cases.
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
    settings: PaperSettings | None = None,
    advance: Callable[[], None] = lambda: None,
) -> NarrationResult:
    """Windows as in the paper, each video on its own."""
    settings = settings or PaperSettings()
    windows: Windows = {}
    if encoder.identity.startswith("sentence"):
        _encode_ahead(encoder, videos, [1])
    for video in videos:
        steps = list(corpus.task_of(video.video).steps)
        units = units_of(encoder, video.narration, len(steps), settings)
        similarity = similarity_of(encoder, units.texts, steps)  # (L, K)
        windows[video.video.key] = paper_windows(units, similarity, video.n_segments, settings)
        advance()
    return NarrationResult(windows)


def narrate_best(
    corpus: Corpus,
    videos: Sequence[NarratedVideo],
    encoder: Encoder,
    settings: CollectionSettings | None = None,
    advance: Callable[[], None] = lambda: None,
) -> NarrationResult:
    """Windows estimated jointly over all videos of a task."""
    settings = settings or CollectionSettings()
    matcher = speech_matcher(encoder, transcripts(videos))
    _encode_ahead(encoder, videos, [0, 1])
    windows: Windows = {}
    by_task = sorted(videos, key=lambda v: v.video.key)
    for task_id, group in groupby(by_task, key=lambda v: v.video.task):
        members = list(group)
        evidence = []
        for video in members:
            evidence.append(spoken_evidence(corpus.tasks[task_id], video.narration, video.n_segments, matcher))
            advance()
        found = collection_windows(evidence, matcher.weights(settings), settings)
        windows |= {video.video.key: ws for video, ws in zip(members, found, strict=True)}
    return NarrationResult(windows)


def _encode_ahead(encoder: Encoder, videos: Sequence[NarratedVideo], neighbours: Sequence[int]) -> None:
    """Let an encoder with a cache encode all cues in one batch before they are needed one by one."""
    if isinstance(encoder, CachedEncoder):
        encoder.encode_missing(text for video in videos for n in neighbours for text in cue_windows(video.narration, n).texts)


def step_queries(task: Task) -> list[str]:
    """The text a step is compared as: its name and the title of its task, since "top toast" alone is ambiguous.

    >>> step_queries(Task("1", "Make Latte", ("pour milk",)))
    ['pour milk to make latte']
    """
    named = task.title and task.title not in ("new task", task.id)
    return [f"{step} to {task.title.lower()}" if named else step for step in task.steps]


@dataclass(frozen=True)
class SpeechMatcher:
    """The encoders that compare speech with steps: the chosen one, TF-IDF, and word vectors trained on the collection."""

    encoder: Encoder
    tfidf: TfIdf
    word_vectors: MaxPooled | None  # trained on the transcripts; None where they have fewer than MIN_WORDS words

    @property
    def is_tfidf(self) -> bool:
        """True if the chosen encoder is TF-IDF, which then gives the only view besides the word vectors."""
        return isinstance(self.encoder, TfIdf)

    def weights(self, settings: CollectionSettings) -> tuple[float, ...]:
        """The weight of each view of similarity of `spoken_evidence`."""
        own = 1.0 if self.is_tfidf else settings.word_vectors_weight
        names = (1.0, 1.0) if self.is_tfidf else (1.0, 1.0, settings.tfidf_weight)
        return names if self.word_vectors is None else (*names, own, own)


def speech_matcher(encoder: Encoder, documents: Sequence[str]) -> SpeechMatcher:
    """A matcher with TF-IDF and word vectors fitted to transcripts; word vectors need MIN_WORDS words."""
    enough = sum(document.count(" ") + 1 for document in documents) >= MIN_WORDS
    return SpeechMatcher(encoder, fit_tfidf(documents), MaxPooled(cooccurrence_vectors(documents)) if enough else None)


def spoken_evidence(task: Task, narration: Narration, n_segments: int, matcher: SpeechMatcher) -> SpokenEvidence:
    """The narration of a video as similarities (L, K) to a task's steps: cues, and cues with neighbours, in every view."""
    units = cue_windows(narration, 0), cue_windows(narration, 1)
    views: list[Vectors] = []
    vectors: tuple[Vectors, ...] = ()
    if matcher.is_tfidf:
        views += [matcher.tfidf.similarity(unit.texts, task.steps) for unit in units]
    else:
        queries = matcher.encoder.encode(step_queries(task))
        vectors = tuple(matcher.encoder.encode(unit.texts) for unit in units)
        views += [view @ queries.T for view in vectors]
        views.append(matcher.tfidf.similarity(units[1].texts, task.steps))
    if matcher.word_vectors is not None:
        names = matcher.word_vectors.encode(task.steps)
        own = tuple(matcher.word_vectors.encode(unit.texts) for unit in units)
        views += [view @ names.T for view in own]
        vectors = vectors or own
    return SpokenEvidence(units[0].start_s, units[0].end_s, n_segments, tuple(views), vectors)


# Value of `narrate --recipe` -> function of a corpus, usable videos and an encoder that returns windows.
NARRATION_METHODS: Mapping[str, Callable[..., NarrationResult]] = {"best": narrate_best, "paper": narrate_paper}


def narration_method(name: str) -> Callable[..., NarrationResult]:
    """The function for a value of `narrate --recipe`."""
    if name not in NARRATION_METHODS:
        raise InputError(f"recipe '{name}' is unknown; expected one of {', '.join(NARRATION_METHODS)}")
    return NARRATION_METHODS[name]


def narrate_corpus(
    corpus: Corpus,
    recipe: str = "best",
    encoder: str | None = None,
    encoder_file: Path | None = None,
    videos: Sequence[Video] | None = None,
    advance: Callable[[], None] = lambda: None,
) -> NarrationResult:
    """Windows of the videos of a corpus that have subtitles, by the named encoder, or the best one installed."""
    from crosstask.text.encoders.choice import choose_encoder

    usable, unusable = usable_videos(corpus, corpus.videos if videos is None else videos)
    chosen = choose_encoder(encoder, encoder_file, transcripts(usable))
    found = narration_method(recipe)(corpus, usable, chosen, advance=advance)
    return NarrationResult(found.windows, {**unusable, **found.unusable})
