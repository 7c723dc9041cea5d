"""Video files, opened with suspicion: real containers only, nothing fetched, every refusal by name. Extra: video."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crosstask.records import InputError, MissingExtra

# Files that hold their own pictures and sound. Playlists, which point at other files or at the network, are not among them.
CONTAINERS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegts,mpegvideo,flv,live_flv,asf,ogg,mxf,gif,h264,hevc,m4v,"
    "ivf,rm,dv,nut,wtv,wav,mp3,aac,flac,aiff"
)
LARGEST_PICTURE = 8192 * 8192  # pixels; more is an attack, not a kitchen


def need_pyav() -> Any:
    """PyAV, or the extra to install."""
    try:
        import av
    except ImportError:
        raise MissingExtra("decoding video files", "video") from None
    logging.getLogger("libav").setLevel(logging.CRITICAL)  # its remarks on damaged frames; ours are one line a file
    return av


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """The container in a file; whatever it is not is an `InputError` that names it."""
    av = need_pyav()
    try:
        size = path.stat().st_size
    except OSError as error:
        raise InputError(f"{path.name}: cannot be read ({error.strerror}); expected a video file") from None
    if path.is_dir() or size == 0:
        raise InputError(f"{path.name}: {'a folder' if path.is_dir() else 'empty, 0 bytes'}; expected a video file")
    with path.open("rb") as file:
        try:
            # Read through our own file, so that a hostile one cannot name protocols; scalings of broken text do not matter here.
            container = av.open(
                file, "r", options={"format_whitelist": CONTAINERS}, metadata_errors="replace", buffer_size=1 << 18
            )
        except (av.error.FFmpegError, ValueError, OSError) as error:
            raise InputError(
                f"{path.name}: no video that can be decoded ({_reason(error)}); expected mp4, mkv, webm ..."
            ) from None
        try:
            yield container
        finally:
            container.close()


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).split(";")[0][:80]


def video_stream(path: Path, container: Any) -> Any:
    """The stream of moving pictures; sound with a cover picture has none."""
    for stream in container.streams.video:
        cover = bool(stream.disposition & type(stream.disposition).attached_pic)
        if not cover:
            context = stream.codec_context
            if context is None:
                raise InputError(f"{path.name}: its pictures are in a format that is unknown here; convert it to H.264 mp4")
            if context.width * context.height > LARGEST_PICTURE:
                raise InputError(f"{path.name}: pictures of {context.width} x {context.height}; expected at most 8192 x 8192")
            return stream
    found = "sound" if container.streams.audio else "neither pictures nor sound"
    raise InputError(f"{path.name}: {found}, but no moving pictures; expected a video")


@dataclass
class DecodingErrors:
    """What could not be decoded of a file: so many packets, and why it ended before its end, if it did."""

    packets: int = 0
    ended: str = ""


def decoded(container: Any, stream: Any, damage: DecodingErrors | None = None) -> Iterator[Any]:
    """Frames as they come, from where the file stands; damage is left out and counted, and the file may end anywhere."""
    av = need_pyav()
    found = damage or DecodingErrors()
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets, None)
        except (av.error.FFmpegError, OSError) as error:
            found.ended = str(error.strerror or "read error")
            return
        if packet is None:
            return
        try:
            frames = packet.decode()
        except (av.error.FFmpegError, ValueError):
            found.packets += 1
            continue
        yield from frames


@dataclass(frozen=True)
class MediaInfo:
    """What a file announces of itself."""

    seconds: float  # 0 where it does not say
    width: int
    height: int
    frames_per_second: float
    has_sound: bool
    n_subtitles: int


def probe(path: Path) -> MediaInfo:
    """What a video file announces, without decoding it."""
    with opened(path) as container:
        stream = video_stream(path, container)
        context = stream.codec_context
        return MediaInfo(
            seconds=(container.duration or 0) / 1e6,
            width=context.width,
            height=context.height,
            frames_per_second=float(stream.average_rate or 0),
            has_sound=bool(container.streams.audio),
            n_subtitles=len(container.streams.subtitles),
        )
