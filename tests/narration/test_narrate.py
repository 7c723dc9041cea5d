"""Windows from speech: synthetic narrations with known mentions, unusable narrations, and the real release."""

from dataclasses import replace
from pathlib import Path

import pytest

from crosstask.metrics.windows import score_windows
from crosstask.narration.collection import CollectionSettings
from crosstask.narration.narrate import (
    NARRATION_METHODS,
    narrate_best,
    narrate_corpus,
    narrate_paper,
    narration_method,
    transcripts,
    usable_videos,
)
from crosstask.records import Corpus, Cue, InputError, Narration, Video, VideoKey, Word
from crosstask.text.encoders import ENCODERS, open_encoder
from narration.speech import TASK, speak, spoken_corpus


@pytest.mark.parametrize("recipe", sorted(NARRATION_METHODS))
@pytest.mark.parametrize("seed", range(3))
def test_synthetic_mentions_are_found(recipe: str, seed: int) -> None:
    corpus, _ = spoken_corpus(seed)
    videos, unusable = usable_videos(corpus, corpus.videos)
    found = narration_method(recipe)(corpus, videos, open_encoder("tfidf", None, transcripts(videos)))
    scores = score_windows(corpus, corpus.videos, found.windows)
    assert not unusable and not found.unusable
    assert scores.outside <= 0.1
    assert scores.hit_rate >= (0.9 if recipe == "best" else 0.2)  # a window of words matches before the step is named
    assert scores.mean_window_s == 9


@pytest.mark.parametrize("recipe", sorted(NARRATION_METHODS))
def test_windows_lie_in_the_video_and_admit_an_ordered_choice(recipe: str) -> None:
    corpus, _ = spoken_corpus(5)
    videos, _ = usable_videos(corpus, corpus.videos)
    found = narration_method(recipe)(corpus, videos, open_encoder("tfidf", None, transcripts(videos)))
    for windows in found.windows.values():
        moment = -1
        for window in windows:
            assert 0 <= window.interval.start_s < window.interval.end_s <= 120
            moment = max(moment + 1, int(window.interval.start_s))
            assert moment < window.interval.end_s


def test_the_order_of_videos_changes_nothing() -> None:
    corpus, _ = spoken_corpus(1)
    videos, _ = usable_videos(corpus, corpus.videos)
    encoder = open_encoder("tfidf", None, transcripts(videos))
    assert narrate_best(corpus, videos[::-1], encoder).windows == narrate_best(corpus, videos, encoder).windows


def test_unusable_narrations_are_reported_with_a_reason() -> None:
    corpus, _ = spoken_corpus(0, n_videos=5)
    subtitles = dict(corpus.subtitles)
    subtitles["v0"] = Narration(())
    subtitles["v1"] = Narration((*(Word("late", 500.0, 501.0) for _ in range(9)),))
    seconds = {**corpus.seconds, "v2": 2}
    del seconds["v3"]
    broken = Corpus("b", corpus.tasks, corpus.videos, seconds=seconds, annotations=corpus.annotations, subtitles=subtitles)
    usable, unusable = usable_videos(broken, broken.videos)
    assert [v.video.id for v in usable] == ["v4"]
    assert [reason.split(";")[0] for reason in unusable.values()] == [
        "0 words are spoken",
        "speech begins at 500 s, after the 120 s of the video",
        "T = 2 seconds cannot hold 3 steps",
        "video 7_v3: length unknown",
    ]


def test_a_video_with_fewer_cues_than_steps_is_split_into_words() -> None:
    corpus = Corpus(
        "c", {"7": TASK}, (Video("7", "a"),), seconds={"a": 60}, subtitles={"a": speak(["cut the bread", "flip toast"])}
    )
    videos, _ = usable_videos(corpus, corpus.videos)

    class Cues:
        identity = "sentence-like"

        def encode(self, sentences):
            return open_encoder("tfidf", None, ["bread toast butter"]).encode(sentences)

    assert len(narrate_paper(corpus, videos, Cues()).windows) == 1
    assert len(narrate_best(corpus, videos, Cues()).windows) == 1


def test_unknown_recipes_are_refused() -> None:
    with pytest.raises(InputError, match="recipe 'fast' is unknown; expected one of best, paper"):
        narration_method("fast")


def test_settings_without_prototypes_and_positions_still_work() -> None:
    corpus, _ = spoken_corpus(2)
    videos, _ = usable_videos(corpus, corpus.videos)
    settings = CollectionSettings(prototype_weight=0, position_weight=0, order_weight=1)
    found = narrate_best(corpus, videos, open_encoder("tfidf", None, transcripts(videos)), settings)
    assert score_windows(corpus, corpus.videos, found.windows).hit_rate >= 0.9


@pytest.mark.slow
def test_the_paper_recipe_on_real_speech(real_release: Corpus, real_data: Path) -> None:
    annotated = [v for v in real_release.videos if v.id in real_release.subtitles and v.key in real_release.annotations]
    videos, _ = usable_videos(real_release, annotated)
    found = NARRATION_METHODS["paper"](real_release, videos, ENCODERS["tfidf"](None, transcripts(videos)))
    scores = score_windows(real_release, annotated, found.windows)
    assert scores.precision >= 0.133
    assert scores.recall >= 0.091
    assert scores.mean_window_s == pytest.approx(9, abs=0.1)


@pytest.mark.slow
def test_the_best_recipe_on_real_speech_with_words_alone(real_release: Corpus) -> None:
    annotated = [v for v in real_release.videos if v.id in real_release.subtitles and v.key in real_release.annotations]
    videos, _ = usable_videos(real_release, annotated)
    found = NARRATION_METHODS["best"](real_release, videos, ENCODERS["tfidf"](None, transcripts(videos)))
    scores = score_windows(real_release, annotated, found.windows)
    assert scores.precision >= 0.22
    assert scores.recall >= 0.14
    assert scores.hit_rate >= 0.33


def test_what_is_said_after_the_end_of_a_video_makes_no_windows() -> None:
    corpus, _ = spoken_corpus(0, n_videos=3)
    said = corpus.subtitles["v0"]
    late = Narration(
        (*said.words, Word("flip", 300.0, 301.0), Word("toast", 301.0, 302.0)),
        (*said.cues, Cue(len(said.words), len(said.words) + 2, 300.0, 302.0)),
    )
    longer = replace(corpus, subtitles={**corpus.subtitles, "v0": late})
    for recipe in ("best", "paper"):
        assert narrate_corpus(longer, recipe, "tfidf").windows == narrate_corpus(corpus, recipe, "tfidf").windows
    mostly_late = Narration((Word("cut", 1.0, 2.0), *(Word("bread", 500.0, 501.0) for _ in range(9))))
    reasons = usable_videos(replace(corpus, subtitles={"v0": mostly_late}), corpus.videos)[1]
    assert "1 words are spoken within the 120 s" in reasons[VideoKey("7", "v0")]
