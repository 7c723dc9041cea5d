"""Narrations of other videos are recognised by their words, or by their length."""

import random

from crosstask.datasets import open_corpus
from crosstask.narration.relatedness import mean_share, why_unrelated
from crosstask.records import Cue, Narration, Word, task_from_steps

TASK = task_from_steps("pour milk, whisk egg, flip toast")
LINES = ["now we pour the milk", "and then whisk the egg well", "we flip the toast over", "and this is it for now"]
OTHER = ["today we build a deck", "measure the boards first", "then drill the holes in them", "and this is it for now"]


def said(lines):
    words = [Word(word, 2.0 * i, 2.0 * i + 1) for i, word in enumerate(" ".join(lines).split())]
    ends = [sum(len(line.split()) for line in lines[: i + 1]) for i in range(len(lines))]
    starts = [0, *ends[:-1]]
    return Narration(
        tuple(words), tuple(Cue(a, b, words[a].start_s, words[b - 1].end_s) for a, b in zip(starts, ends, strict=True))
    )


def test_another_task_is_recognised():
    assert why_unrelated(said(LINES * 4), TASK, 200) == ""
    assert "hardly said" in why_unrelated(said(OTHER * 4), TASK, 200)
    assert why_unrelated(said(OTHER), TASK, 200) == ""  # too few words to judge
    assert mean_share(said(LINES), TASK) == 1.0


def test_words_after_the_end_of_the_video_are_of_another_one():
    assert "words are said after the end of the video, at 60 s" in why_unrelated(said(LINES * 4), TASK, 60)


def test_real_transcripts_belong_to_their_own_task(real_data):
    corpus = open_corpus(real_data / "crosstask")
    narrated = [video for video in corpus.videos if video.id in corpus.subtitles and video.key in corpus.annotations]
    tasks = [corpus.tasks[task] for task in sorted({video.task for video in narrated})]
    own, other = [], []
    for video in random.Random(0).sample(narrated, 60):
        for task in tasks:
            (own if task.id == video.task else other).append(bool(why_unrelated(corpus.subtitles[video.id], task, 10_000)))
    assert sum(own) <= 0.15 * len(own) and sum(other) >= 0.85 * len(other)
