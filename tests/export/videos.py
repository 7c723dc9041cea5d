"""A localized video with characters that formats must escape."""

from crosstask.export import LocalizedVideo
from crosstask.records import FoundStep, VideoKey


def video_of(*intervals, length=120.0, absent=()):
    steps = tuple(FoundStep(name, int(start), 0.5, start, end) for name, start, end in intervals)
    not_shown = tuple(FoundStep(name, 0.0, -1.0, 0.0, 1.0, shown=False) for name in absent)
    return LocalizedVideo(VideoKey("1", "-vidéo_1"), "Make <Latte> & more", length, steps, not_shown, "-vidéo 1.mp4")


VIDEO = video_of(("pour milk", 3.25, 9.5), ("stir --> & <b>", 20.0, 30.0), ("=sum(A1)", 61.0, 70.125), absent=("serve",))
