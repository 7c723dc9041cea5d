"""The estimated time and disk space of a run, from the durations of its videos and measured rates of one core."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from crosstask.extraction.containers import probe
from crosstask.extraction.feature_spec import FeatureSpec, load_backbones
from crosstask.records import InputError

# CPU seconds a second of video, on one core; docs/own-videos.md says which were timed and which are estimates.
COST = {"efficientnet-lite0": 0.065, "light": 0.006, "log-mel": 0.003, "i3d": 1.5, "vggish": 0.03, "frozen": 0.2}
RESNET_FRAME = 0.35
DECODE_PIXEL = 4.3e-9  # a decoded pixel
LISTENING = 0.16  # speech recognition, a second of speech


@dataclass(frozen=True)
class Estimate:
    """Videos, their length, and what their description needs."""

    videos: int
    unreadable: dict[str, str]
    seconds: float
    cpu_seconds: float
    listening_cpu_seconds: float
    feature_bytes: int


def estimate(files: Mapping[str, Path], spec: FeatureSpec, mute: frozenset[str] = frozenset()) -> Estimate:
    """The cost of describing these videos; `mute` ones must be listened to as well."""
    width = sum(backbone.width for backbone in load_backbones(spec)) + (768 if spec.speech else 0)
    total, cpu, listening, n_bytes = 0.0, 0.0, 0.0, 0
    unreadable: dict[str, str] = {}
    for video_id, path in sorted(files.items()):
        try:
            found = probe(path)
        except InputError as error:
            unreadable[video_id] = str(error)
            continue
        rate = found.frames_per_second or 25
        total += found.duration_s
        cpu += found.duration_s * (_cost(spec, rate) + DECODE_PIXEL * found.width * found.height * rate)
        listening += LISTENING * found.duration_s if video_id in mute and found.has_audio else 0
        n_bytes += int(found.duration_s + 1) * width * 4
    return Estimate(len(files), unreadable, total, cpu, listening, n_bytes)


def _cost(spec: FeatureSpec, rate: float) -> float:
    return sum(RESNET_FRAME * rate / part.every if part.name == "resnet152" else COST[part.name] for part in spec.backbones)
