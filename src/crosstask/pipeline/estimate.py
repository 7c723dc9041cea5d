"""The estimated time and disk space of a run, from the durations of its videos and measured rates of one core."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from crosstask.extraction.containers import probe
from crosstask.extraction.feature_spec import FeatureSpec, load_backbones
from crosstask.records import InputError

# CPU seconds a second of video, on one core; docs/features.md says which were timed and which are estimates.
COST = {"efficientnet-lite0": 0.065, "light": 0.006, "log-mel": 0.003, "i3d": 1.5, "vggish": 0.03, "frozen": 0.2}
RESNET_FRAME = 0.35  # a frame through ResNet-152, estimated
DECODE_PIXEL = 4.3e-9  # a decoded pixel
_SPEECH_COLUMNS = 768  # two vectors of the packaged sentence encoder, 384 each
_USUAL_FRAME_RATE = 25  # frames a second, where the header gives none
_BYTES_PER_NUMBER = 4  # float32
TRANSCRIPTION = 0.16  # speech recognition, a second of speech


@dataclass(frozen=True)
class Estimate:
    """Videos, their length, and the time and space that their features and transcripts need."""

    videos: int
    unreadable: dict[str, str]
    seconds: float
    cpu_seconds: float
    transcription_cpu_seconds: float
    feature_bytes: int


def estimate(files: Mapping[str, Path], spec: FeatureSpec, without_subtitles: frozenset[str] = frozenset()) -> Estimate:
    """The cost of extracting features of these videos, and of transcribing those without subtitles."""
    width = sum(backbone.width for backbone in load_backbones(spec)) + (_SPEECH_COLUMNS if spec.speech else 0)
    total, cpu, transcription, n_bytes = 0.0, 0.0, 0.0, 0
    unreadable: dict[str, str] = {}
    for video_id, path in sorted(files.items()):
        try:
            found = probe(path)
        except InputError as error:
            unreadable[video_id] = str(error)
            continue
        rate = found.frames_per_second or _USUAL_FRAME_RATE
        total += found.duration_s
        cpu += found.duration_s * (_cost(spec, rate) + DECODE_PIXEL * found.width * found.height * rate)
        transcription += TRANSCRIPTION * found.duration_s if video_id in without_subtitles and found.has_audio else 0
        n_bytes += int(found.duration_s + 1) * width * _BYTES_PER_NUMBER
    return Estimate(len(files), unreadable, total, cpu, transcription, n_bytes)


def _cost(spec: FeatureSpec, rate: float) -> float:
    return sum(RESNET_FRAME * rate / part.every if part.name == "resnet152" else COST[part.name] for part in spec.backbones)
