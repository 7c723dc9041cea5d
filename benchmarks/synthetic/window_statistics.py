"""Position of narration windows relative to the annotated steps, computed alike on real transcripts and on the synthetic corpus."""

from collections.abc import Mapping
from statistics import fmean

import numpy as np

from crosstask.narration.narrate import narrate_best, narrate_paper, usable_videos
from crosstask.records import Corpus, Interval, StepInterval, VideoKey
from crosstask.storage.derived_folders import cache_folder
from crosstask.text.encoders import CachedEncoder, open_encoder

Windows = Mapping[VideoKey, tuple[StepInterval, ...]]
WITHIN_S = (15, 60)


def real_windows(corpus: Corpus) -> dict[str, Windows]:
    """Windows of the transcribed and annotated videos of the release, made as in the paper and by the default method."""
    usable, _ = usable_videos(corpus, [video for video in corpus.videos if video.key in corpus.annotations])
    encoder = CachedEncoder(open_encoder("sentence"), cache_folder() / "embeddings")
    return {
        "real, as in the paper": narrate_paper(corpus, usable, encoder).windows,
        "real, default method": narrate_best(corpus, usable, encoder).windows,
    }


def window_statistics(corpus: Corpus, windows: Windows) -> dict[str, float]:
    """Every statistic, pooled within a task, as the mean over tasks."""
    tasks = sorted({key.task for key in windows if key in corpus.annotations})
    by_task = [_of_task(corpus, {key: w for key, w in windows.items() if key.task == task}) for task in tasks]
    return {name: round(fmean(values[name] for values in by_task), 4) for name in by_task[0]}


def _of_task(corpus: Corpus, windows: Windows) -> dict[str, float]:
    steps, intervals, gaps_s, in_another_step = [], [], [], []
    both_s = either_s = 0.0
    for key, of_video in sorted(windows.items()):
        truth = corpus.annotations.get(key, ())
        for window in of_video if truth else ():
            spans = [part.interval for part in truth if part.step == window.step]
            overlaps_s = [window.interval.overlap_s(span) for span in spans]
            both_s += sum(overlaps_s)
            either_s += window.interval.length_s + sum(span.length_s for span in spans) - sum(overlaps_s)
            intervals += [overlap == 0 for overlap in overlaps_s]
            steps += [sum(overlaps_s) == 0] if spans else []
            if spans and sum(overlaps_s) == 0:
                middle_s = (window.interval.start_s + window.interval.end_s) / 2
                gaps_s.append(_gap_s(window.interval, spans))
                in_another_step.append(
                    any(p.step != window.step and p.interval.start_s <= middle_s < p.interval.end_s for p in truth)
                )
    return {
        "steps outside their window": float(np.mean(steps)),
        "intervals outside their window": float(np.mean(intervals)),
        "IoU": both_s / either_s,
        "outside: window is earlier": fmean(gap < 0 for gap in gaps_s),
        "outside: median distance, s": float(np.median(np.abs(gaps_s))),
        **{f"outside: within {s} s": fmean(abs(gap) <= s for gap in gaps_s) for s in WITHIN_S},
        "outside: middle in another step": fmean(in_another_step),
    }


def _gap_s(window: Interval, spans: list[Interval]) -> float:
    """Seconds from a window to the nearest span, negative where the window is earlier; 0 where they overlap or touch."""
    gaps = [max(span.start_s - window.end_s, 0.0) - max(window.start_s - span.end_s, 0.0) for span in spans]
    return -min(gaps, key=abs)
