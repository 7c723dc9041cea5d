"""Whether a narration belongs to a video and to a task, or is that of another video.

    share = mean over steps of the largest share of the step's words (by stems, rare words count more) that one cue contains

Over 402 narrated videos of two tasks of CrossTask, `share` is below `LEAST_SHARE` for 7 % of the videos with the steps of their own task, and
for 95 % with those of the other task. Words after the end of the video are 7 % at most.
"""

from crosstask.narration.language import FEW_WORDS, language_of
from crosstask.narration.mention_evidence import stem_shares
from crosstask.narration.units import cue_windows
from crosstask.records import Narration, Task
from crosstask.text.language import ENGLISH

LEAST_SHARE = 0.15
LATE_SHARE = 0.1  # of the words, said after the end of the video


def why_unrelated(narration: Narration, task: Task, n_segments: int) -> str:
    """The reason why a narration is taken to be that of another video, or an empty string; fewer than `FEW_WORDS` words are not judged."""
    words = narration.words
    late = sum(word.start_s >= n_segments for word in words)
    if late > LATE_SHARE * len(words):
        return f"{late} of {len(words)} words are said after the end of the video, at {n_segments} s; is it the narration of another video?"
    if len(words) < FEW_WORDS:
        return ""
    if mean_share(narration, task) < LEAST_SHARE:
        return "the words of the steps are hardly said; is it the narration of another video, or are the steps of another task?"
    return ""


def mean_share(narration: Narration, task: Task) -> float:
    """The mean over steps of the largest share of the step's words in one cue."""
    language = language_of(narration) or ENGLISH
    shares = stem_shares(cue_windows(narration, neighbours=0).texts, task.steps, language)
    return float(shares.max(axis=0, initial=0.0).mean())
