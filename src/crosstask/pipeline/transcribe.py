"""Videos without subtitles -> subtitles, from streams embedded in the file or by speech recognition."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from crosstask.datasets.subtitles.timeline import DisplayedCue, narration_from_cues, untimed_words
from crosstask.datasets.subtitles.webvtt import write_webvtt
from crosstask.extraction.content_hash import content_digest
from crosstask.extraction.speech import SpeechModelError, can_transcribe, embedded_subtitles, refuse_incomplete_model, transcribe
from crosstask.records import InputError
from crosstask.storage import nonblocking_lock, open_regular, paths_in, raise_if_disk_failed

_HEARD_IN = "heard in "  # then the digest of the video file, and the language and speech model that the user chose
_RECOGNISED = ", recognised"
_HEAD_BYTES = 2000


@dataclass
class TranscriptionReport:
    """How each video without subtitles came to have some, or why it has none."""

    embedded: list[str] = field(default_factory=list)
    recognised: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)  # no extra to recognise with
    skipped: dict[str, str] = field(default_factory=dict)


def transcribe_videos(
    files: Mapping[str, Path],
    folder: Path,
    model: Path | None = None,
    advance: Callable[[], None] = lambda: None,
    language: str | None = None,
    recognise: bool = True,
) -> TranscriptionReport:
    """Write `folder/VIDEO.vtt` for each of these videos; one that was made from the same content by the same model is kept.

    One that was not made from a video, such as those that `corpus convert` writes, is kept as it is. Without a model, those of any
    model are kept. Without a language, it is detected in each video. Without `recognise`, embedded subtitles alone are written.
    """
    transcribed = TranscriptionReport()
    raise_if_no_speech_model(model)
    with nonblocking_lock(folder):
        for video_id, path in sorted(files.items()):
            try:
                _transcribe(video_id, path, folder, model, language, transcribed, recognise)
            except SpeechModelError:
                raise
            except InputError as error:
                transcribed.skipped[video_id] = str(error)
            except OSError as error:
                raise_if_disk_failed(error)
                transcribed.skipped[video_id] = f"{path.name}: cannot be read ({error.strerror})"
            advance()
    return transcribed


def remove_outdated(files: Mapping[str, Path], folder: Path) -> list[str]:
    """Remove subtitles that were made from a video file with other content than the one that has its name now; returns the videos."""
    removed = []
    for video_id, path in sorted(files.items()):
        head = _head(folder / f"{video_id}.vtt")
        try:
            outdated = _HEARD_IN in head and f"{_HEARD_IN}{content_digest(path)}" not in head
        except OSError as error:  # a later stage says why it cannot be read
            raise_if_disk_failed(error)
            continue
        if outdated:
            (folder / f"{video_id}.vtt").unlink(missing_ok=True)
            removed.append(video_id)
    return removed


def recognised_in(folder: Path) -> frozenset[Path]:
    """The files of a folder with recognised speech."""
    return frozenset(path for path in paths_in(folder) if path.suffix == ".vtt" and _RECOGNISED in _head(path))


def _head(path: Path) -> str:
    """The beginning of a subtitle file, where its origin stands; empty if there is none."""
    if not path.is_file():
        return ""
    with open_regular(path) as file:
        return file.read(_HEAD_BYTES).decode("utf-8", "replace")


def raise_if_no_speech_model(model: Path | None) -> None:
    """An error now, not at every video, for a folder that holds no speech model."""
    if model is not None:
        refuse_incomplete_model(model)


def _transcribe(
    video_id: str,
    path: Path,
    folder: Path,
    model: Path | None,
    language: str | None,
    transcribed: TranscriptionReport,
    recognise: bool,
) -> None:
    written = folder / f"{video_id}.vtt"
    stamp = f"{_HEARD_IN}{content_digest(path)}" + (f" as {language}" if language else "")
    stamp += f" by {content_digest(model / 'model.bin')}" if model is not None else ""
    if f"{stamp}," in _head(written) or (written.is_file() and _HEARD_IN not in _head(written)):
        transcribed.reused.append(video_id)
        return
    lines = embedded_subtitles(path)
    if lines:
        narration = narration_from_cues([DisplayedCue(start_s, end_s, (untimed_words(text),)) for start_s, end_s, text in lines])
        write_webvtt(written, narration, f"{stamp}, its own subtitles")
        transcribed.embedded.append(video_id)
    elif not recognise:
        return
    elif can_transcribe(model):
        write_webvtt(written, transcribe(path, model, language), f"{stamp}{_RECOGNISED}")
        transcribed.recognised.append(video_id)
    else:
        transcribed.silent.append(video_id)
