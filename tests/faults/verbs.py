"""The verbs that write files, on a tiny corpus, and the files they write."""

import io
import json
import shutil
import zipfile
from contextlib import ExitStack
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from corpus_building.server import misbehaving_server
from runs.test_folder import tiny_run
from tiny import write_tiny

SHORT_TRAINING = ["--learning-rate", "0.01", "--initial-epochs", "4", "--epochs", "4"]
VERBS = {
    "pack": lambda corpus, out: ["pack", corpus],
    "narrate": lambda corpus, out: ["narrate", corpus, "--encoder", "tfidf"],
    "train-paper": lambda corpus, out: ["train", corpus, "--recipe", "paper", "--out", out / "m.safetensors", *SHORT_TRAINING],
    "train-best": lambda corpus, out: ["train", corpus, "--out", out / "m.safetensors"],
    "experiment": lambda corpus, out: [
        *("experiment", "no-narration", corpus, "--runs", "2", "--out", out / "e", "--train-videos", "2"),
        *("--learning-rate", "0.01", "--initial-epochs", "1", "--epochs", "1"),
    ],
    "export": lambda corpus, out: ["export", corpus.parent / "run", "--out", out / "exports"],
    "download": lambda corpus, out: ["download", "release", "--from", archive_address(), "--out", out / "set"],
}
if find_spec("av") is not None:  # the extra 'video'
    VERBS["extract"] = lambda corpus, out: [
        "extract",
        corpus.parent / "films",
        "--features",
        "log-mel",
        "--workers",
        "1",
        "--out",
        out / "f",
    ]
if find_spec("av") is not None and find_spec("efficientnet_lite_pytorch") is not None:  # with the default features
    VERBS["run"] = lambda corpus, out: ["run", corpus.parent / "films", "--workers", "1", "--no-speech", "--out", out / "run"]
SLOW = {"run": 10}  # verbs that are killed a tenth as often
UNFINISHED = (
    "unfinished.bin",
    "unfinished.json",
    "m.safetensors.checkpoint",
    ".crosstask-exports.unfinished",
)  # names of incomplete files
SERVERS = ExitStack()  # until the process ends
UNPACKED = ".crosstask/downloads/", ".unpacking/"  # an archive in several states, and what is unpacked of it before it is moved


@cache
def archive_address() -> str:
    """The address of a zip archive on a server in this process, which runs until the process ends."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("crosstask_release/tasks_primary.txt", "1\nMake Latte\n\n1\npour milk\n\n")
        for i in range(30):
            archive.writestr(f"crosstask_release/annotations/1_v{i}.csv", f"1,0,{i}\n" * 200)
    server = SERVERS.enter_context(misbehaving_server(data.getvalue()))
    return f"{server.address}/plain"


def write_corpus(folder: Path) -> Path:
    """The tiny corpus with features and subtitles."""
    corpus = write_tiny(folder, videos_per_task=5)
    for video in corpus.videos:
        lines = ["WEBVTT", ""]
        for output in corpus.annotations[video.key]:
            start, end = output.interval.start_s, output.interval.end_s
            lines += [f"00:{start:06.3f} --> 00:{end:06.3f}", f"now we {corpus.task_of(video).steps[output.step]}", ""]
        (folder / "crosstask_subtitles").mkdir(exist_ok=True)
        (folder / "crosstask_subtitles" / f"{video.id}.vtt").write_text("\n".join(lines))
    return folder


def write_video_corpus(folder: Path) -> Path:
    """A `corpus.toml` folder with three short videos."""
    from extraction.media import write_video

    for i in range(3):
        write_video(folder / "videos" / "latte" / f"film {i}.mp4", seconds=2 + i)
    (folder / "corpus.toml").write_text('[tasks.latte]\nsteps = ["pour milk", "stir"]\n')
    return folder


def lists_fewer_parts(index: bytes, complete: bytes) -> bool:
    """True for the index of a pack that has the first parts of the complete one and nothing else: it is written after every part."""
    found, expected = json.loads(index), json.loads(complete)
    n_parts, n_videos = len(found["parts"]), len(found["videos"])
    begun = {**expected, "parts": expected["parts"][:n_parts], "videos": expected["videos"][:n_videos]}
    in_part = [video["part"] for video in expected["videos"]]
    return found == begun and 0 < n_parts < len(expected["parts"]) and n_videos == sum(part < n_parts for part in in_part)


class Workspace:
    """A corpus, an output folder, and the files that an uninterrupted command writes to them."""

    def __init__(self, folder: Path, verb: str) -> None:
        self.corpus, self.out = write_corpus(folder / "corpus"), folder / "out"
        self.argv = [str(a) for a in VERBS[verb](self.corpus, self.out)]
        if verb in ("extract", "run"):
            write_video_corpus(folder / "films")
        if verb == "export":
            tiny_run(folder / "run")
        self.expected: dict[str, bytes] = {}

    def clear(self) -> None:
        """Remove all derived files and results."""
        for folder in (self.corpus / ".crosstask", self.corpus.parent / "films" / ".crosstask", self.out):
            shutil.rmtree(folder, ignore_errors=True)
        self.out.mkdir()

    def files(self) -> dict[str, bytes]:
        """Path -> bytes of every file that the verb wrote, including hidden ones."""
        folders = (self.corpus / ".crosstask", self.corpus.parent / "films" / ".crosstask", self.out)
        files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.corpus.parent)): path.read_bytes() for path in files}

    def check_files(self, after: str = "a kill") -> int:
        """Number of incomplete files; fails if a file with a final name differs from the expected one."""
        unfinished = 0
        for name, data in self.files().items():
            base = name.rsplit("/", 1)[-1]
            hidden = base.startswith(".") and base.endswith((".partial", ".lock"))
            begun = name.endswith("pack/index.json") and lists_fewer_parts(data, self.expected[name])
            if base in UNFINISHED or hidden or begun or any(part in name for part in UNPACKED):
                unfinished += 1
            else:
                assert name in self.expected, f"{name}: an uninterrupted command does not write this file (after {after})"
                assert data == self.expected[name], f"{name}: not the file of an uninterrupted command (after {after})"
        return unfinished
