"""A video of a corpus, always listed under a task, since one video may be listed under several."""

from collections.abc import Container
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import category, normalize

from crosstask.records.problem import InputError

_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # a name must read the way it is spelt

_MAX_NAME_BYTES = 200  # file systems allow 255; the rest is left for the names of temporary files


class VideoKey(NamedTuple):
    """(task, video): the only safe key, as 89 ids of the release are listed under several tasks."""

    task: str
    video: str

    def __str__(self) -> str:
        """`TASK_VIDEO`, the name of its files."""
        return f"{self.task}_{self.video}"


@dataclass(frozen=True)
class Video:
    """One row of a corpus: a video listed under a task."""

    task: str
    id: str
    url: str = ""

    @property
    def key(self) -> VideoKey:
        """Its (task, video) key."""
        return VideoKey(self.task, self.id)


def parse_video_key(text: str, tasks: Container[str] = ()) -> VideoKey:
    """`TASK_VIDEO`, split after the longest of the tasks, whose ids may hold underscores, else at the first underscore.

    >>> parse_video_key("105222_-Yt_o"), parse_video_key("make_tea_-Yt", {"make_tea"})
    (VideoKey(task='105222', video='-Yt_o'), VideoKey(task='make_tea', video='-Yt'))
    """
    text = str(text)
    cuts = [at for at, character in enumerate(text[:-1]) if character == "_" and at]
    if not cuts or text.startswith("_"):
        raise InputError(f"'{text}' does not name a video; expected TASK_VIDEO, e.g. 105222_-YtYoSwdUf8")
    at = next((at for at in reversed(cuts) if text[:at] in tasks), cuts[0])
    return VideoKey(text[:at], text[at + 1 :])


def refuse_escaping_id(identifier: str, kind: str) -> str:
    """The id itself, or an error when it could not be the name of a plain file.

    >>> refuse_escaping_id("-YtYoSwdUf8", "video")
    '-YtYoSwdUf8'
    """
    hostile = not isinstance(identifier, str) or identifier in {"", ".", ".."} or any(map(_unfit_for_a_name, identifier))
    if hostile or len(identifier.encode()) > _MAX_NAME_BYTES:
        raise InputError(
            f"{kind} id {str(identifier)[:60]!r} cannot name a file; expected a short name without '/' or control characters"
        )
    return identifier


def refuse_unfit_key(key: VideoKey) -> VideoKey:
    """The key itself, or an error when its files, `TASK_VIDEO.html` the longest, could not be written in a run folder.

    >>> refuse_unfit_key(VideoKey("latte", "-Yt"))
    VideoKey(task='latte', video='-Yt')
    """
    refuse_escaping_id(key.video, "video")
    if (length := len(f"{key}.html".encode())) > _MAX_NAME_BYTES:
        raise InputError(
            f"video {key.video[:60]!r}...: its files would have names of {length} bytes; expected at most {_MAX_NAME_BYTES}: rename it"
        )
    return key


def folded_name(name: str) -> str:
    """The same text for all names that would be one file on some disk: on many, case and the spelling of accented letters do not count.

    >>> folded_name("IMG_1") == folded_name("img_1"), folded_name("caf\u00e9") == folded_name("Cafe\u0301")
    (True, True)
    """
    return normalize("NFC", normalize("NFC", name).casefold())


def _unfit_for_a_name(character: str) -> bool:
    """Separators of any system, control characters (also those that reverse the reading direction), halves of characters."""
    return character in "/\\" or character in _TURNING or category(character) in {"Cc", "Cs", "Zl", "Zp"}
