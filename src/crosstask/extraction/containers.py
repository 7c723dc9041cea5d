"""Opening and demultiplexing video files safely: only self-contained formats, no network access. Extra: video."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from crosstask.records import InputError, MissingExtra
from crosstask.storage import open_regular, raise_if_disk_failed, require_regular

# Formats that contain their own frames and audio; playlists, which refer to other files or the network, are excluded.
CONTAINERS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegts,mpegvideo,flv,live_flv,asf,ogg,mxf,gif,h264,hevc,m4v,"
    "ivf,rm,dv,nut,wtv,wav,mp3,aac,flac,aiff"
)
CONTAINER_TIME_BASE = 1e6  # units per second of container times, FFmpeg's AV_TIME_BASE
MAX_VIDEO_S = 24 * 3600  # ours: beyond it time stamps and headers are taken for damaged
MAX_FRAME_PIXELS = 8192 * 8192  # ours: twice 8K video; larger frames could exhaust the memory


def start_of(container: Any) -> float:
    """The time stamp in seconds with which a container starts: times in a video count from there, as in a player."""
    return float((container.start_time or 0) / CONTAINER_TIME_BASE)


def need_pyav() -> Any:
    """The module `av`, or an error that names the extra to install."""
    try:
        import av
    except ImportError:
        raise MissingExtra("decoding video files", "video") from None
    logging.getLogger("libav").setLevel(logging.CRITICAL)  # we log one line per damaged file ourselves
    return av


@contextmanager
def open_container(path: Path) -> Iterator[Any]:
    """The opened container of a video file; `InputError` for any other file."""
    av = need_pyav()
    try:
        size = 0 if path.is_dir() else require_regular(path).stat().st_size
    except OSError as error:
        raise_if_disk_failed(error)
        raise InputError(f"{path.name}: cannot be read ({error.strerror}); expected a video file") from None
    if path.is_dir() or size == 0:
        raise InputError(f"{path.name}: {'a folder' if path.is_dir() else 'empty, 0 bytes'}; expected a video file")
    with open_regular(path) as opened:
        file = _MonitoredFile(opened)
        try:
            # Passing an open file instead of a path keeps FFmpeg from opening other files or protocols.
            container = av.open(
                file, "r", options={"format_whitelist": CONTAINERS}, metadata_errors="replace", buffer_size=1 << 18
            )
        except (av.error.FFmpegError, ValueError, OSError) as error:
            file.raise_if_disk_failed()
            raise InputError(
                f"{path.name}: not a video that can be decoded ({_reason(error)}); expected mp4, mkv, webm ..."
            ) from None
        try:
            yield container
            file.raise_if_disk_failed()
        except InputError:
            file.raise_if_disk_failed()
            raise
        finally:
            container.close()


@dataclass
class _MonitoredFile:
    """A file for FFmpeg that remembers an error of the disk: FFmpeg takes it for the end of the video and goes on with what it has."""

    file: BinaryIO
    error: OSError | None = None

    def read(self, n_bytes: int) -> bytes:
        """The next bytes; none after an error."""
        try:
            return b"" if self.error else self.file.read(n_bytes)
        except OSError as error:
            self.error = error
            return b""

    def seek(self, offset: int, whence: int = 0) -> int:
        """The new position."""
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        """The position."""
        return self.file.tell()

    def raise_if_disk_failed(self) -> None:
        """Raise the error that reading met, if any."""
        if self.error is not None:
            raise_if_disk_failed(self.error)


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).split(";")[0][:80]


def video_stream(path: Path, container: Any) -> Any:
    """The first video stream of a container, ignoring cover images of audio files."""
    for stream in container.streams.video:
        is_cover = bool(stream.disposition & type(stream.disposition).attached_pic)
        if not is_cover:
            context = stream.codec_context
            if context is None:
                raise InputError(f"{path.name}: its video codec is not supported; convert it to H.264 mp4")
            if context.width * context.height > MAX_FRAME_PIXELS:
                raise InputError(
                    f"{path.name}: frames of {context.width} x {context.height} pixels; expected at most 8192 x 8192"
                )
            return stream
    found = "only audio" if container.streams.audio else "neither video nor audio"
    raise InputError(f"{path.name}: {found}, no video stream; expected a video")


@dataclass
class DecodingErrors:
    """Number of packets that could not be decoded, and why reading stopped before the end of the file, if it did."""

    packets: int = 0
    end_reason: str = ""


def decode_frames(container: Any, stream: Any, errors: DecodingErrors | None = None) -> Iterator[Any]:
    """Frames from the current position on; undecodable packets are skipped and counted in `errors`."""
    av = need_pyav()
    found = errors or DecodingErrors()
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets, None)
        except (av.error.FFmpegError, OSError) as error:
            found.end_reason = str(error.strerror or "read error")
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
    """Properties of a video file from its header."""

    duration_s: float  # 0 if the header gives none that is possible
    width: int
    height: int
    frames_per_second: float
    has_audio: bool
    n_subtitles: int


def header_duration_s(container: Any) -> float:
    """The duration in the header of a container; 0 if there is none, or one that no video has."""
    duration_s = (container.duration or 0) / CONTAINER_TIME_BASE
    if "matroska" in container.format.name and 0 < start_of(container) < duration_s:
        duration_s -= start_of(container)  # FFmpeg writes the time of the end there, also where the first frame is not at 0
    return duration_s if 0 < duration_s <= MAX_VIDEO_S else 0.0


def probe(path: Path) -> MediaInfo:
    """The properties of a video file, without decoding it."""
    with open_container(path) as container:
        stream = video_stream(path, container)
        context = stream.codec_context
        return MediaInfo(
            duration_s=header_duration_s(container),
            width=context.width,
            height=context.height,
            frames_per_second=float(stream.average_rate or 0),
            has_audio=bool(container.streams.audio),
            n_subtitles=len(container.streams.subtitles),
        )
