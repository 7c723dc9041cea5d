"""Where narration windows lie beside the true step: counted alike on real transcripts and on a planted world."""

from collections.abc import Mapping
from statistics import fmean

import numpy as np

from crosstask.narration.narrate import narrate_best, narrate_paper, usable_videos
from crosstask.records import Corpus, Interval, StepInterval, VideoKey
from crosstask.storage.derived_folders import cache_folder
from crosstask.text.encoders import CachedEncoder, open_encoder

Windows = Mapping[VideoKey, tuple[StepInterval, ...]]
WITHIN_S = (5, 15, 30, 60, 120)


def real_windows(corpus: Corpus) -> dict[str, Windows]:
    """Windows of the transcribed and annotated videos of the release, by the paper's recipe and by the best one."""
    usable, _ = usable_videos(corpus, [video for video in corpus.videos if video.key in corpus.annotations])
    encoder = CachedEncoder(open_encoder("sentence"), cache_folder() / "embeddings")
    return {
        "real, paper recipe": narrate_paper(corpus, usable, encoder).windows,
        "real, best recipe": narrate_best(corpus, usable, encoder).windows,
    }


def gap_s(window: Interval, spans: list[Interval]) -> float:
    """Seconds from a window to the nearest span, negative where the window is earlier; 0 where they overlap or touch."""
    gaps = [max(span.start_s - window.end_s, 0.0) - max(window.start_s - span.end_s, 0.0) for span in spans]
    return -min(gaps, key=abs)


def window_measures(corpus: Corpus, windows: Windows) -> dict[str, float]:
    """Every figure as the mean over tasks of what is pooled within a task."""
    tasks = sorted({key.task for key in windows if key in corpus.annotations})
    by_task = [_of_task(corpus, {key: w for key, w in windows.items() if key.task == task}) for task in tasks]
    return {name: round(fmean(figures[name] for figures in by_task), 4) for name in by_task[0]}


def _of_task(corpus: Corpus, windows: Windows) -> dict[str, float]:
    usual = _usual_places(corpus, windows)
    inside, gaps, relative, elsewhere, next_to, stray = [], [], [], [], [], []
    absent_elsewhere, absent_next_to, absent_stray, timely_stray, hits = [], [], [], [], []
    for key, of_video in sorted(windows.items()):
        if key not in corpus.annotations:
            continue
        n_seconds = corpus.seconds[key.video]
        for window in of_video:
            middle = (window.interval.start_s + window.interval.end_s) / 2
            spans = [part.interval for part in corpus.annotations[key] if part.step == window.step]
            others = {
                p.step
                for p in corpus.annotations[key]
                if p.step != window.step and p.interval.start_s <= middle < p.interval.end_s
            }
            neighbour = any(abs(step - window.step) == 1 for step in others)
            unmatched_files = abs(middle / n_seconds - usual.get(window.step, np.nan))
            if not spans:
                absent_elsewhere.append(bool(others)), absent_next_to.append(neighbour), absent_stray.append(unmatched_files)
                continue
            inside.append(any(window.interval.overlap_s(span) > 0 for span in spans))
            hits.append(any(span.start_s <= middle < span.end_s for span in spans))
            if inside[-1]:
                timely_stray.append(unmatched_files)
                continue
            gaps.append(gap_s(window.interval, spans))
            relative.append(abs(gaps[-1]) / n_seconds)
            elsewhere.append(bool(others)), next_to.append(neighbour), stray.append(unmatched_files)
    return {
        "shown steps outside their window": 1 - fmean(inside),
        "window's middle inside the step": fmean(hits),
        "outside: window is earlier": fmean(gap < 0 for gap in gaps),
        "outside: median distance, s": float(np.median(np.abs(gaps))),
        "outside: median distance, share of video": float(np.median(relative)),
        **{f"outside: within {s} s": fmean(abs(gap) <= s for gap in gaps) for s in WITHIN_S},
        "outside: middle in another step": fmean(elsewhere),
        "outside: middle in a neighbouring step": fmean(next_to),
        "absent: middle in a step": fmean(absent_elsewhere),
        "absent: middle in a neighbouring step": fmean(absent_next_to),
        "from the step's usual place, share of video: inside": float(np.nanmean(timely_stray)),
        "from the step's usual place, share of video: outside": float(np.nanmean(stray)),
        "from the step's usual place, share of video: absent": float(np.nanmean(absent_stray)),
    }


def _usual_places(corpus: Corpus, windows: Windows) -> dict[int, float]:
    """Mean relative place of every step of a task over its videos."""
    places: dict[int, list[float]] = {}
    for key in windows:
        for part in corpus.annotations.get(key, ()):
            places.setdefault(part.step, []).append((part.interval.start_s + part.interval.end_s) / 2 / corpus.seconds[key.video])
    return {step: fmean(values) for step, values in places.items()}
