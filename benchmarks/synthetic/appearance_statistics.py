"""Similarity of the features of steps, computed alike on the features of Breakfast and on synthetic features for the same videos.

Every statistic is a mean inner product of features centred per video, as a share of their mean square: nothing is fitted, and products across people
are unbiased. Synthetic features are generated for the step lists and timelines of Breakfast, so that only the appearance differs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import fmean

import numpy as np
import numpy.typing as npt

from crosstask.records import Corpus, Video

Floats = npt.NDArray[np.float32]
Key = tuple[str, int]  # task, step
LAGS_S = (1, 2, 5, 10, 20)


@dataclass(frozen=True)
class CentredVideo:
    """Features of a video minus their mean (T, D), the step of each second (T,) or -1, and the person."""

    task: str
    person: str
    rows: Floats
    step: npt.NDArray[np.int64]

    def intervals(self) -> list[tuple[int, int]]:
        """Maximal intervals of one step or of background, as (first, last + 1)."""
        edges = [0, *(np.flatnonzero(np.diff(self.step)) + 1).tolist(), len(self.step)]
        return list(pairwise(edges))


def centred_videos(corpus: Corpus, rows_of: Callable[[Video], npt.NDArray[np.floating]]) -> list[CentredVideo]:
    """The annotated videos with the given features, each column of variance one within videos."""
    centred = {v: rows_of(v).astype(np.float32) for v in corpus.videos if v.key in corpus.annotations}
    centred = {video: rows - rows.mean(axis=0) for video, rows in centred.items()}
    scale = np.sqrt(np.mean(np.concatenate([rows**2 for rows in centred.values()]), axis=0) + 1e-9)
    result = []
    for video, rows in centred.items():
        step = np.full(len(rows), -1)
        for part in corpus.annotations[video.key]:
            segments = part.interval.segments(len(rows))
            step[segments.start : segments.stop] = part.step
        result.append(CentredVideo(video.task, video.id.partition("_")[0], rows / scale, step))
    return result


def appearance_statistics(videos: Sequence[CentredVideo], steps: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Every statistic by name: shares of the variance within videos; `of it` means of what a step has in common across people."""
    means = _means_by_person(videos)
    same = fmean(_across_people(people, people) for people in means.values() if len(people) > 1)
    figures = {"a step across people": same}
    figures |= {f"of it: {name}": value / same for name, value in _by_words(means, steps).items()}
    figures |= {f"same interval, {lag} s apart": _at_lag(videos, lag, True) for lag in LAGS_S}
    figures |= {f"other step, {lag} s apart": _at_lag(videos, lag, False) for lag in LAGS_S}
    figures["same step in another interval of the video"] = _repeated(videos)
    figures |= _spectrum(videos)
    figures |= {f"similarity {lag} s outside a step, of that inside": v for lag, v in _outside(videos, means).items()}
    return {name: round(float(value), 4) for name, value in figures.items()}


def _means_by_person(videos: Sequence[CentredVideo]) -> dict[Key, dict[str, Floats]]:
    parts: dict[Key, dict[str, list[Floats]]] = {}
    for video in videos:
        for step in np.unique(video.step[video.step >= 0]).tolist():
            of_step = parts.setdefault((video.task, step), {})
            of_step.setdefault(video.person, []).append(video.rows[video.step == step].mean(axis=0))
    return {key: {person: np.mean(rows, axis=0) for person, rows in people.items()} for key, people in parts.items()}


def _across_people(a: Mapping[str, Floats], b: Mapping[str, Floats]) -> float:
    """Mean inner product, per column, of one's mean in `a` and another's in `b`; nobody is compared with themselves."""
    both = a.keys() & b.keys()
    total = sum(a.values()) @ sum(b.values()) - sum(float(a[p] @ b[p]) for p in both)
    return float(total) / len(next(iter(a.values()))) / (len(a) * len(b) - len(both))


def _by_words(means: Mapping[Key, Mapping[str, Floats]], steps: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Mean similarity of steps of different tasks by the words that their names share, and of different steps of a task."""
    kinds: dict[str, list[float]] = {}
    for a, b in combinations(sorted(means), 2):
        one, other = steps[a[0]][a[1]].split(), steps[b[0]][b[1]].split()
        kind = (
            "same name in another task"
            if one == other
            else "only the verb shared"
            if one[0] == other[0]
            else "only an object shared"
        )
        if not set(one) & set(other):
            kind = "no word shared"
        kinds.setdefault("another step of the task" if a[0] == b[0] else kind, []).append(_across_people(means[a], means[b]))
    return {kind: fmean(values) for kind, values in sorted(kinds.items())}


def _at_lag(videos: Sequence[CentredVideo], lag: int, same: bool) -> float:
    """Mean product of rows so many seconds apart, both in one interval, or in different steps."""
    total, n = 0.0, 0
    for video in videos:
        number = np.repeat(np.arange(len(video.intervals())), [b - a for a, b in video.intervals()])
        shown = (video.step[:-lag] >= 0) & (video.step[lag:] >= 0)
        chosen = shown & ((number[:-lag] == number[lag:]) if same else (video.step[:-lag] != video.step[lag:]))
        total += float((video.rows[:-lag][chosen] * video.rows[lag:][chosen]).sum())
        n += int(chosen.sum()) * video.rows.shape[1]
    return total / n


def _repeated(videos: Sequence[CentredVideo]) -> float:
    """Mean inner product of the means of two intervals of a step in a video that are at least five seconds apart."""
    products = []
    for video in videos:
        parts = [(a, b) for a, b in video.intervals() if video.step[a] >= 0]
        for (a, b), (c, d) in combinations(parts, 2):
            if video.step[a] == video.step[c] and c - b >= 5:
                products.append(float(np.mean(video.rows[a:b].mean(axis=0) * video.rows[c:d].mean(axis=0))))
    return fmean(products)


def _spectrum(videos: Sequence[CentredVideo]) -> dict[str, float]:
    values = np.linalg.eigvalsh(np.cov(np.concatenate([video.rows for video in videos]).T))[::-1]
    return {
        "effective dimensions (participation ratio)": values.sum() ** 2 / (values**2).sum(),
        "variance in the first 10 directions": values[:10].sum() / values.sum(),
    }


def _outside(videos: Sequence[CentredVideo], means: Mapping[Key, Mapping[str, Floats]]) -> dict[int, float]:
    """Similarity of the seconds before and after a step to it, where the other seconds of the video are 0 and its own are 1."""
    totals = {key: (sum(people.values()), len(people)) for key, people in means.items()}
    near: dict[int, list[float]] = {lag: [] for lag in LAGS_S}
    inside, other = [], []
    for video in videos:
        for step in np.unique(video.step[video.step >= 0]).tolist():
            total, n = totals[video.task, step]
            if n < 2:
                continue
            like = video.rows @ (total - means[video.task, step][video.person]) / (n - 1) / video.rows.shape[1]  # (T,)
            inside.append(float(like[video.step == step].mean()))
            other += like[video.step != step].tolist()
            for a, b in video.intervals():
                if video.step[a] == step:
                    for lag in LAGS_S:
                        places = [t for t in (a - lag, b - 1 + lag) if 0 <= t < len(like) and video.step[t] != step]
                        near[lag] += [float(like[t]) for t in places]
    return {lag: (fmean(values) - fmean(other)) / (fmean(inside) - fmean(other)) for lag, values in near.items()}
