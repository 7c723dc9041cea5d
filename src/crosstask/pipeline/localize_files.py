"""A few video, subtitle or feature files -> their localizations, as text in any export format, or as a run folder that `view` opens."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from crosstask import __version__
from crosstask.datasets.corpus_toml import VIDEO_EXTENSIONS
from crosstask.datasets.subtitle_folders import EXTENSIONS, video_names
from crosstask.export import FormatFiles, LocalizedVideo, exported_files, left_out, videos_of_run, write_exported
from crosstask.extraction.content_hash import content_digest
from crosstask.features import read_rows
from crosstask.model.joint_localization import subtitles_beside
from crosstask.model.localize_video import FEATURES, FoundInFile, localize_file
from crosstask.pipeline.run_labels import refresh_annotations
from crosstask.records import InputError, Localization, Narration, Task, VideoKey, folded_name, refuse_escaping_id
from crosstask.runs import LabelStore, Run, RunVideo, claim_run_folder, note_replaced_videos, write_run
from crosstask.storage import nonblocking_lock, paths_in, write_text

if TYPE_CHECKING:
    from crosstask.model.model import Model
    from crosstask.text.encoders import Encoder

# Ending of an --out file -> its format.
FORMAT_OF_ENDING = {".vtt": "vtt", ".txt": "youtube", ".eaf": "elan", ".csv": "csv", ".json": "json", ".html": "html"}
_LONGEST_ID = 80  # characters; ids become names of files
_METHOD = "localize"  # also the kind of the run


@dataclass(frozen=True)
class LocalizedFile:
    """A file with the steps found in it, and the video file that shows them, if there is one."""

    path: Path
    found: FoundInFile
    media: Path | None


def localize_files(
    files: Sequence[Path],
    task: Task,
    subtitles: Sequence[Path] = (),
    language: str | None = None,
    encoder: "Encoder | None" = None,
) -> list[LocalizedFile]:
    """The steps of a task in video or subtitle files without a model, each file on its own; `subtitles` has none, or one for each file."""
    given: Sequence[Path | None] = list(subtitles) or [None] * len(files)
    return [
        LocalizedFile(path, localize_file(path, task, said, language, encoder), media_beside(path))
        for path, said in zip(files, given, strict=True)
    ]


def localize_files_by_model(
    model: "Model", files: Sequence[Path], task: Task, subtitles: Sequence[Path] = (), decoder: str | None = None
) -> tuple[list[LocalizedFile], list[str]]:
    """The steps of a task in video or feature files by a model, and the reason for each file that could not be localized."""
    from crosstask.datasets.subtitles import read_narration

    given: Sequence[Path | str] = list(subtitles) or ["auto"] * len(files)
    found, problems = [], []
    for path, said in zip(files, given, strict=True):
        try:
            localization = model.localize(path, task, decoder=decoder, narration=said)
            narration = read_narration(said, path.stem) if isinstance(said, Path) else None
            n_segments = _length(path, localization)
        except InputError as error:
            problems.append(str(error))
            continue
        found.append(LocalizedFile(path, FoundInFile(localization, "the model", n_segments, narration), media_beside(path)))
    return found, problems


def media_beside(path: Path) -> Path | None:
    """The video file that a path names, or that lies beside subtitles or features of the same name; None where there is none."""
    if path.suffix.lower() in VIDEO_EXTENSIONS and path.is_file():
        return path
    names = [path.stem, *([path.stem.rpartition(".")[0]] if "." in path.stem else [])]  # talk.en.vtt
    folded = list(map(folded_name, names))
    found = [place for place in paths_in(path.parent) if place.suffix.lower() in VIDEO_EXTENSIONS and place.is_file()]
    videos = [place for place in found if folded_name(place.stem) in folded]
    return min(videos, key=lambda place: (place.stem not in names, folded.index(folded_name(place.stem)), place), default=None)


def run_of_files(found: Sequence[LocalizedFile], task: Task, command: str) -> tuple[Run, dict[VideoKey, Localization]]:
    """The description of a run with these files, and its localizations; ids are unique and can be names of files."""
    task = replace(task, id=_file_name(task.id))
    videos: list[RunVideo] = []
    localizations: dict[VideoKey, Localization] = {}
    for file, video_id in zip(found, _distinct([_file_name(file.found.localization.video) for file in found]), strict=True):
        media = None if file.media is None else str(file.media.resolve())
        content = None if file.media is None else content_digest(file.media)
        videos.append(RunVideo(task.id, video_id, file.found.n_segments, media, content=content))
        localizations[videos[-1].key] = replace(file.found.localization, video=video_id, task=task.id)
    title = f"Steps found in {len(videos)} video{'' if len(videos) == 1 else 's'}"
    methods = (_METHOD,)
    notes = tuple(f"{file.path.name}: found by {file.found.source}" for file in found)
    run = Run(title, _METHOD, command, 0, False, {task.id: task}, tuple(videos), methods, notes=notes, version=__version__)
    return run, localizations


def _distinct(names: Sequence[str]) -> list[str]:
    """The names; of those that repeat, in whatever case, all but the first get the next number that no other name has.

    >>> _distinct(["talk (2)", "talk", "Talk"])
    ['talk (2)', 'talk', 'Talk (3)']
    """
    taken, found = set(map(folded_name, names)), dict[str, str]()
    for name in names:
        numbered = (f"{name} ({number})" for number in count(2))
        new = name if folded_name(name) not in found else next(new for new in numbered if folded_name(new) not in taken)
        found[folded_name(new)] = new
        taken.add(folded_name(new))
    return list(found.values())


def write_localized_run(folder: Path, found: Sequence[LocalizedFile], task: Task, command: str) -> Path:
    """The run folder, now holding these localizations and what is said; `crosstask view` and `export` read it."""
    run, localizations = run_of_files(found, task, command)
    media = [file.media for file in found if file.media is not None]
    said: dict[VideoKey, Narration] = {
        video.key: file.found.narration for video, file in zip(run.videos, found, strict=True) if file.found.narration is not None
    }
    ids, contents = [video.id for video in run.videos], [video.content for video in run.videos]
    with nonblocking_lock(folder):
        claim_run_folder(folder, _METHOD, media, ids, lambda: contents)
        note_replaced_videos(folder, LabelStore(folder, run.tasks, {video.key: video.content for video in run.videos}))
        write_run(folder, run, {_METHOD: list(localizations.values())}, transcripts=said)
        refresh_annotations(folder)
    return folder


def exports_of_files(
    found: Sequence[LocalizedFile], task: Task, names: Sequence[str], folder: Path | None = None, all_steps: bool = False
) -> tuple[dict[str, Mapping[str, str]], list[str]]:
    """Format -> file name -> text, and remarks; links of web pages start at `folder` or, by default, at FORMAT in the working folder."""
    run, localizations = run_of_files(found, task, "")
    videos: list[LocalizedVideo] = videos_of_run(run, localizations, all_steps)
    remarks, texts = left_out(videos), dict[str, Mapping[str, str]]()
    for name in names:
        files, changes = exported_files(videos, name, folder or Path.cwd(), Path.cwd())
        texts[name] = files
        remarks += [f"{name}: {change}" for change in changes]
    return texts, remarks


def write_exports(
    out: Path,
    found: Sequence[LocalizedFile],
    task: Task,
    names: Sequence[str],
    all_steps: bool = False,
    read: Iterable[Path] = (),
    overwrite: bool = False,
) -> tuple[list[Path], list[str]]:
    """Paths of the files written, and remarks: `out` itself where it has an ending and there is one file, else `out/FORMAT/FILE`.

    Nothing is written where a file that was read would be overwritten: a localized one, its video or subtitles, or one of `read`; nor over
    a file with the ending of something else. In a folder, nothing is written over edited files or exports of other videos either.
    """
    as_file = bool(out.suffix) and not out.is_dir()
    if as_file and len(names) > 1:
        raise InputError(f"--out {out}: {len(names)} formats do not fit into one file; name a folder, or one --format")
    placed: dict[str, str] = {}  # place in the folder of `out`, or in `out` -> text
    remarks: list[str] = []
    for name in names:
        texts, of_format = exports_of_files(found, task, [name], (out.parent if as_file else out / name).absolute(), all_steps)
        if as_file and len(texts[name]) > 1:
            raise InputError(f"--out {out}: {name} makes {len(texts[name])} files; name a folder")
        for file, text in texts[name].items():
            if as_file and out.exists() and out.suffix.lower() != Path(file).suffix:
                raise InputError(f"--out {out}: a file of another format, which would be overwritten; expected a new name")
            placed[out.name if as_file else f"{name}/{refuse_escaping_id(file, 'file')}"] = text
        remarks += [remark for remark in of_format if remark not in remarks]
    folder = out.parent if as_file else out
    _refuse_overwriting([folder / name for name in placed], [*read, *(path for file in found for path in _files_read(file))])
    _refuse_subtitles(folder / name for name in placed)
    if as_file:
        return [write_text(out, text) for text in placed.values()], remarks
    files = FormatFiles(lambda: ((name, (text,)) for name, text in placed.items()), one_per_video=False)
    return write_exported(out, [files], [file.path for file in found], overwrite), remarks


def _files_read(file: LocalizedFile) -> list[Path]:
    """A localized file, the video file that shows it, and subtitles beside these."""
    paths = [path for path in (file.path, file.media) if path is not None]
    return [*paths, *(said for said in map(subtitles_beside, paths) if said is not None)]


def _refuse_subtitles(written: Iterable[Path]) -> None:
    """An error for a name under which a video file has its subtitles: the next command would take the found steps for what is said."""
    for path in written:
        place = path.parent.resolve() / path.name
        media = media_beside(place) if path.suffix.lower() in EXTENSIONS else None
        if media is not None and folded_name(media.stem) in map(folded_name, video_names(path.name)):
            raise InputError(
                f"--out {path}: would be taken for the subtitles of {media.name}; expected another name, such as {media.stem}.chapters.vtt"
            )


def _refuse_overwriting(written: Iterable[Path], read: Iterable[Path]) -> None:
    known = {path.resolve() for path in read}
    if taken := [path for path in written if path.resolve() in known]:
        raise InputError(f"--out: {taken[0]} would be overwritten, and the steps were found with it; name another file or folder")


def _length(path: Path, localization: Localization) -> int:
    """Seconds of a video or feature file; at least up to the last step."""
    from crosstask.extraction.containers import probe

    last = max((step.end_s for step in localization.steps), default=0.0)
    seconds = len(read_rows(path)) if path.suffix.lower() in FEATURES else probe(path).duration_s
    return int(-(-max(last, seconds) // 1))


def _file_name(name: str) -> str:
    """A name that can be part of a file name.

    >>> _file_name("salt/pepper")
    'salt-pepper'
    """
    plain = "".join(character if character.isprintable() and character not in "/\\" else "-" for character in name)
    return plain.strip(" .")[:_LONGEST_ID] or "video"
