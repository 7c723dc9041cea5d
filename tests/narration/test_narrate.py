"""Windows from speech: worked examples, brute force for the marginals, laws, planted narrations, and the real thing."""

from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosstask.metrics.windows import score_windows
from crosstask.narration.collection import BestSettings
from crosstask.narration.evidence import contrasted, position_scores, prototype_scores, standardised
from crosstask.narration.mentions import mention_marginals
from crosstask.narration.narrate import RECIPES, narrate_best, narrate_paper, recipe_named, transcripts, usable_videos
from crosstask.narration.placing import expected_overlap, ordered_windows, seconds_of_mentions
from crosstask.narration.plain import PlainSettings, plain_windows
from crosstask.narration.units import cue_windows, word_windows
from crosstask.records import Corpus, Cue, InputError, Interval, Narration, StepInterval, Task, Video, Word
from crosstask.text.encoders import ENCODERS, open_encoder

TASK = Task("7", "Make Toast", ("cut bread", "melt butter", "flip toast"))
FILLER = [
    "well",
    "this",
    "is",
    "really",
    "something",
    "that",
    "i",
    "like",
    "to",
    "do",
    "on",
    "sunday",
    "mornings",
    "with",
    "family",
    "and",
    "friends",
]


def speak(lines: list[str], seconds_a_line: float = 3.0) -> Narration:
    words, cues = [], []
    for i, line in enumerate(lines):
        texts = line.split()
        start_s = i * seconds_a_line
        cues.append(Cue(len(words), len(words) + len(texts), start_s, start_s + seconds_a_line))
        words += [Word(text, start_s + j * 0.3, start_s + (j + 1) * 0.3) for j, text in enumerate(texts)]
    return Narration(tuple(words), tuple(cues))


def planted(seed: int = 0, n_videos: int = 6, n_lines: int = 40) -> tuple[Corpus, dict]:
    """Videos that speak of nothing, and of each step once, in order, at known lines."""
    rng = np.random.default_rng(seed)
    subtitles, annotations, videos = {}, {}, []
    for i in range(n_videos):
        lines = [" ".join(rng.choice(FILLER, 6)) for _ in range(n_lines)]
        where = sorted(rng.choice(np.arange(2, n_lines - 2), len(TASK.steps), replace=False))
        for line, step in zip(where, TASK.steps, strict=True):
            lines[line] = f"now we {step} carefully like so"
        video = Video("7", f"v{i}")
        videos.append(video)
        subtitles[video.id] = speak(lines)
        annotations[video.key] = tuple(StepInterval(k, Interval(3.0 * line, 3.0 * line + 6)) for k, line in enumerate(where))
    seconds = {video.id: 3 * n_lines for video in videos}
    return Corpus(
        "planted", {"7": TASK}, tuple(videos), seconds=seconds, annotations=annotations, subtitles=subtitles
    ), annotations


@pytest.mark.parametrize("recipe", sorted(RECIPES))
@pytest.mark.parametrize("seed", range(3))
def test_planted_mentions_are_found(recipe: str, seed: int) -> None:
    corpus, _ = planted(seed)
    videos, unusable = usable_videos(corpus, corpus.videos)
    found = recipe_named(recipe)(corpus, videos, open_encoder("tfidf", None, transcripts(videos)))
    scores = score_windows(corpus, corpus.videos, found.windows)
    assert not unusable and not found.unusable
    assert scores.outside <= 0.1
    assert scores.hit_rate >= (0.9 if recipe == "best" else 0.2)  # a window of words matches before the step is named
    assert scores.mean_window_s == 9


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_windows_lie_in_the_video_and_admit_an_ordered_answer(recipe: str) -> None:
    corpus, _ = planted(5)
    videos, _ = usable_videos(corpus, corpus.videos)
    found = recipe_named(recipe)(corpus, videos, open_encoder("tfidf", None, transcripts(videos)))
    for windows in found.windows.values():
        moment = -1
        for window in windows:
            assert 0 <= window.interval.start_s < window.interval.end_s <= 120
            moment = max(moment + 1, int(window.interval.start_s))
            assert moment < window.interval.end_s


def test_the_order_of_videos_changes_nothing() -> None:
    corpus, _ = planted(1)
    videos, _ = usable_videos(corpus, corpus.videos)
    encoder = open_encoder("tfidf", None, transcripts(videos))
    assert narrate_best(corpus, videos[::-1], encoder).windows == narrate_best(corpus, videos, encoder).windows


def test_unusable_narrations_are_reported_with_a_reason() -> None:
    corpus, _ = planted(0, n_videos=5)
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


def test_a_video_of_fewer_cues_than_steps_is_cut_at_its_words() -> None:
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


def test_word_windows_and_cue_windows_by_hand() -> None:
    said = speak(["a b", "c", "d e"])
    assert word_windows(said, 4).texts == ("a b c", "a b c d", "b c d e", "c d e", "d e")
    assert cue_windows(said, 1).texts == ("a b c", "a b c d e", "c d e")
    assert cue_windows(said, 0).texts == ("a b", "c", "d e")
    assert cue_windows(Narration(said.words), 0).texts == ("a b c d e",)


def test_plain_windows_by_hand() -> None:
    units = cue_windows(speak(["x"] * 20), 0)
    similarity = np.zeros((20, 2))
    similarity[4, 0], similarity[2, 1], similarity[10, 1] = 0.9, 0.8, 0.5
    windows = plain_windows(units, similarity, 60, PlainSettings())
    # step 0 at line 4 (0.9), step 1 at line 10 (0.5): its better mention at line 2 would come too early
    assert [(w.interval.start_s, w.interval.end_s) for w in windows] == [(10, 19), (28, 37)]


def brute_force(score: np.ndarray, absent: float) -> np.ndarray:
    n_pieces, n_steps = score.shape
    total, marginals = 0.0, np.zeros_like(score)
    for mentioned in product([False, True], repeat=n_steps):
        steps = [k for k in range(n_steps) if mentioned[k]]
        for pieces in combinations(range(n_pieces), len(steps)):
            weight = np.exp(sum(score[l, k] for l, k in zip(pieces, steps, strict=True)) + absent * (n_steps - len(steps)))
            total += weight
            for l, k in zip(pieces, steps, strict=True):
                marginals[l, k] += weight
    return marginals / total


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**32 - 1), st.floats(-3, 3))
@settings(max_examples=60, deadline=None)
def test_mention_marginals_agree_with_enumeration(n_pieces: int, n_steps: int, seed: int, absent: float) -> None:
    score = np.random.default_rng(seed).normal(size=(n_pieces, n_steps)) * 2
    np.testing.assert_allclose(mention_marginals(score, absent), brute_force(score, absent), rtol=1e-8, atol=1e-12)


def test_mention_marginals_survive_large_scores() -> None:
    marginals = mention_marginals(np.array([[900.0, -900], [-900, 900]]), 5.0)
    np.testing.assert_allclose(marginals, np.eye(2), atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(3, 40), st.integers(1, 3), st.sampled_from([1, 3, 5, 9]))
@settings(max_examples=60, deadline=None)
def test_ordered_windows_are_passable_and_of_greatest_worth(seed: int, n_segments: int, n_steps: int, window_s: int) -> None:
    worth = np.random.default_rng(seed).random((n_segments, n_steps))
    windows = ordered_windows(worth, window_s)
    moment = -1
    for window in windows:
        moment = max(moment + 1, int(window.interval.start_s))
        assert moment < window.interval.end_s
    if n_segments <= 12 and n_segments >= 2 * window_s:
        reach = window_s // 2
        best = max(
            sum(worth[max(0, t - reach) : t + reach + 1, k].max() for k, t in enumerate(times))
            for times in combinations(range(n_segments), n_steps)
        )
        inner = [w for w in windows if w.interval.start_s > 0 and w.interval.end_s < n_segments]
        if len(inner) == n_steps:
            got = sum(worth[int(w.interval.start_s) + reach, w.step] for w in windows)
            assert got == pytest.approx(best)


def test_expected_overlap_counts_what_a_window_holds() -> None:
    mass = np.zeros((10, 1))
    mass[4], mass[6] = 0.7, 0.2
    np.testing.assert_allclose(expected_overlap(mass, 3)[:, 0], [0, 0, 0, 0.7, 0.7, 0.9, 0.2, 0.2, 0, 0], atol=1e-12)


def test_mass_is_kept_when_mentions_become_seconds() -> None:
    mentions = np.array([[0.5, 0.1], [0.25, 0.9]])
    mass = seconds_of_mentions(mentions, np.array([0.2, 8.0]), np.array([2.6, 30.0]), 10, lag_s=1.0)
    np.testing.assert_allclose(mass.sum(axis=0), mentions.sum(axis=0))
    assert mass[9, 1] == 0.9


def test_evidence_is_blind_to_scale_and_shift_of_a_step_and_of_a_cue() -> None:
    rng = np.random.default_rng(0)
    scores = [rng.random((n, 3)) for n in (4, 6)]
    moved = [score * [1, 2, 5] + [0, 7, -1] for score in scores]
    for a, b in zip(standardised(scores), standardised(moved), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    np.testing.assert_allclose(contrasted(scores[0] + rng.random((4, 1))), contrasted(scores[0]), atol=1e-12)
    assert contrasted(np.array([[0.5], [0.7]])).tolist() == [[0.5], [0.7]]


def test_prototypes_point_to_what_is_said_of_a_step() -> None:
    rng = np.random.default_rng(0)
    directions = np.eye(5)[:2]
    vectors, mentions = [], []
    for _ in range(4):
        video = 0.1 * rng.standard_normal((12, 5))
        mention = np.zeros((12, 2))
        for k in range(2):
            at = rng.integers(0, 12)
            video[at] += directions[k]
            mention[at, k] = 1
        vectors.append(video)
        mentions.append(mention)
    scores = prototype_scores(vectors, mentions)
    assert all((s.argmax(axis=0) == m.argmax(axis=0)).all() for s, m in zip(scores, mentions, strict=True))


def test_positions_favour_where_the_collection_mentions_a_step() -> None:
    positions = [np.linspace(0, 0.99, 20) for _ in range(3)]
    mentions = [np.zeros((20, 1)) for _ in range(3)]
    for mention in mentions:
        mention[15] = 1
    scores = position_scores(positions, mentions)
    assert all(abs(int(score.argmax()) - 15) <= 1 for score in scores)
    assert scores[0][15, 0] > 0 > scores[0][2, 0]


def test_unknown_recipes_are_refused() -> None:
    with pytest.raises(InputError, match="recipe 'fast' is unknown; expected one of best, paper"):
        recipe_named("fast")


def test_settings_without_learning_still_work() -> None:
    corpus, _ = planted(2)
    videos, _ = usable_videos(corpus, corpus.videos)
    plain = BestSettings(prototype_weight=0, position_weight=0, order_trust=1)
    found = narrate_best(corpus, videos, open_encoder("tfidf", None, transcripts(videos)), plain)
    assert score_windows(corpus, corpus.videos, found.windows).hit_rate >= 0.9


def test_the_plain_recipe_on_real_speech(real_release: Corpus, real_data: Path) -> None:
    judged = [v for v in real_release.videos if v.id in real_release.subtitles and v.key in real_release.annotations]
    videos, _ = usable_videos(real_release, judged)
    found = RECIPES["paper"](real_release, videos, ENCODERS["tfidf"](None, transcripts(videos)))
    scores = score_windows(real_release, judged, found.windows)
    assert scores.precision >= 0.133
    assert scores.recall >= 0.091
    assert scores.mean_window_s == pytest.approx(9, abs=0.1)


def test_the_best_recipe_on_real_speech_with_words_alone(real_release: Corpus) -> None:
    judged = [v for v in real_release.videos if v.id in real_release.subtitles and v.key in real_release.annotations]
    videos, _ = usable_videos(real_release, judged)
    found = RECIPES["best"](real_release, videos, ENCODERS["tfidf"](None, transcripts(videos)))
    scores = score_windows(real_release, judged, found.windows)
    assert scores.precision >= 0.22
    assert scores.recall >= 0.14
    assert scores.hit_rate >= 0.33
