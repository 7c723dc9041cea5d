"""Videos without subtitles -> subtitles of ours: from streams inside the file, or by recognition."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from crosstask.extraction.speech import can_recognise, embedded_subtitles, recognise
from crosstask.extraction.stamps import content_stamp
from crosstask.records import InputError
from crosstask.sources.subtitles.timeline import ShownCue, narration_of, untimed
from crosstask.sources.subtitles.writing import write_webvtt
from crosstask.storing import alone_or_refused


@dataclass
class Heard:
    """How each video without subtitles came to have some, or why it has none."""

    embedded: list[str] = field(default_factory=list)
    recognised: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)  # no extra to recognise with
    set_aside: dict[str, str] = field(default_factory=dict)


def listen_to(
    files: Mapping[str, Path], folder: Path, model: Path | None = None, advance: Callable[[], None] = lambda: None
) -> Heard:
    """Write `folder/VIDEO.vtt` for each of these videos; one already heard from the same content is left alone."""
    heard = Heard()
    refuse_no_model(model)
    with alone_or_refused(folder):
        for video_id, path in sorted(files.items()):
            try:
                _listen(video_id, path, folder, model, heard)
            except InputError as error:
                heard.set_aside[video_id] = str(error)
            except OSError as error:
                heard.set_aside[video_id] = f"{path.name}: cannot be read ({error.strerror})"
            advance()
    return heard


def refuse_no_model(model: Path | None) -> None:
    """An error now, not at every video, for a folder that holds no speech model."""
    if model is not None and not (model / "model.bin").is_file():
        raise InputError(f"{model}: no model.bin; expected a faster-whisper (CTranslate2) model folder")


def _listen(video_id: str, path: Path, folder: Path, model: Path | None, heard: Heard) -> None:
    written = folder / f"{video_id}.vtt"
    stamp = f"heard in {content_stamp(path)}"
    if written.is_file() and stamp in written.read_text("utf-8", "replace")[:400]:
        heard.reused.append(video_id)
        return
    lines = embedded_subtitles(path)
    if lines:
        narration = narration_of([ShownCue(start_s, end_s, (untimed(text),)) for start_s, end_s, text in lines])
        write_webvtt(written, narration, f"{stamp}, its own subtitles")
        heard.embedded.append(video_id)
    elif can_recognise(model):
        write_webvtt(written, recognise(path, model), f"{stamp}, recognised")
        heard.recognised.append(video_id)
    else:
        heard.silent.append(video_id)
