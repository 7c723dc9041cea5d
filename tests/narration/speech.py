"""Synthetic narrations whose mentions are known."""

import numpy as np

from crosstask.records import Corpus, Cue, Interval, Narration, StepInterval, Task, Video, Word

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


def spoken_corpus(seed: int = 0, n_videos: int = 6, n_lines: int = 40) -> tuple[Corpus, dict]:
    """A corpus whose videos contain filler sentences and mention each step once, in order, at known lines; and its annotations."""
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
        "spoken", {"7": TASK}, tuple(videos), seconds=seconds, annotations=annotations, subtitles=subtitles
    ), annotations
