"""Narrations by video id from folders of subtitle files, read lazily."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from crosstask.records import Narration, folded_name
from crosstask.storage import paths_in, raise_if_disk_failed, read_bytes

EXTENSIONS = (".vtt", ".srt", ".json3", ".json")
_ENGLISH = re.compile(r"en(glish)?([-_][a-z0-9_-]+)?", re.IGNORECASE)  # en, en-GB, en_US, en-orig
_LANGUAGE = re.compile(r"[a-z]{2}([-_][a-z0-9_-]+)?", re.IGNORECASE)  # de, pt-BR, zh-Hans: the names that downloaders give


@dataclass(frozen=True)
class SubtitleFolders(Mapping[str, Narration]):
    """Narrations from `VIDEO.vtt` (or .srt, .json, `VIDEO.en.vtt`, `VIDEO.de.vtt`) of some folders; a later folder takes precedence.

    A video file is given as FOLDER/NAME -> its id: what lies beside it is its own, and in the folder of other video files nothing is.
    """

    folders: tuple[Path, ...]
    beside: Mapping[Path, str] = field(default_factory=dict, hash=False)
    left_out: frozenset[Path] = frozenset()

    @cached_property
    def paths(self) -> dict[str, Path]:
        """Video id -> subtitle file."""
        with_files, of_files = {place.parent for place in self.beside}, set(self.beside.values())
        names, found = of_files | {place.name for place in self.beside}, dict[str, Path]()
        for folder in self.folders:
            for name, path in files_by_video(folder, names).items():
                video = self._of_file.get((folder, folded_name(name)))
                if path not in self.left_out and (video is not None or folder not in with_files or name not in of_files):
                    found[name if video is None else video] = path
        return found

    @cached_property
    def _of_file(self) -> dict[tuple[Path, str], str]:
        """(folder, folded name) of a video file -> its id."""
        return {(place.parent, folded_name(place.name)): video for place, video in self.beside.items()}

    @cached_property
    def _file_name(self) -> dict[str, str]:
        """Video id -> name of its file."""
        return {video: place.name for place, video in self.beside.items()}

    def digest(self, video_id: str) -> str | None:
        """Sixteen hex digits of the SHA-256 of a video's subtitle file; None where there is none that can be read."""
        try:
            return hashlib.sha256(read_bytes(self.paths[video_id])).hexdigest()[:16]
        except KeyError:
            return None
        except OSError as error:
            raise_if_disk_failed(error)
            return None

    def __getitem__(self, video_id: str) -> Narration:
        """The narration of a video."""
        from crosstask.datasets.subtitles import read_narration

        return read_narration(self.paths[video_id], self._file_name.get(video_id, video_id))

    def __contains__(self, video_id: object) -> bool:
        """True if the video has subtitles."""
        return video_id in self.paths

    def __iter__(self) -> Iterator[str]:
        """Video ids, sorted."""
        return iter(sorted(self.paths))

    def __len__(self) -> int:
        """Number of videos with subtitles."""
        return len(self.paths)


def files_by_video(folder: Path, videos: Iterable[str] = ()) -> dict[str, Path]:
    """Name of a video -> subtitle file of a folder; WebVTT is preferred, then SRT, then JSON.

    `NAME.de.vtt` also serves NAME, where neither `NAME.vtt` nor one in English is there, and no video is called NAME.de; `NAME.end.vtt` does not.
    A name is spelt as in `videos`, where one of them is the same but for case and the spelling of accented letters.
    """
    spelt = {folded_name(video): video for video in videos}
    found: dict[str, Path] = {}
    files = [path for path in paths_in(folder) if path.suffix.lower() in EXTENSIONS]
    names = {path: video_names(path.name) for path in files}
    served = [
        (path, name, rank)
        for path in files
        for rank, name in enumerate(names[path])
        if not rank or folded_name(names[path][0]) not in spelt
    ]

    def preference(of: tuple[Path, str, int]) -> tuple[bool, bool, int, int, Path]:
        path, name, rank = of
        other_spelling = spelt.get(folded_name(name), name) != name
        return other_spelling, bool(rank) and not _is_english(path), EXTENSIONS.index(path.suffix.lower()), rank, path

    for path, name, _ in sorted(served, key=preference):
        found.setdefault(spelt.get(folded_name(name), name), path)
    return found


def _is_english(file: Path) -> bool:
    return _ENGLISH.fullmatch(file.stem.rpartition(".")[2]) is not None


def video_names(file: str) -> list[str]:
    """The names of the videos that a subtitle file of this name serves, the likeliest first.

    >>> video_names("talk.en.vtt"), video_names("talk.pt-BR.srt"), video_names("talk.end.vtt")
    (['talk.en', 'talk'], ['talk.pt-BR', 'talk'], ['talk.end'])
    """
    name = file.rpartition(".")[0]
    stem, _, language = name.rpartition(".")
    return [name, stem] if stem and (_ENGLISH.fullmatch(language) or _LANGUAGE.fullmatch(language)) else [name]
