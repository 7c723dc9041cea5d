"""The verbs that write, on a tiny corpus, and what they leave behind."""

import shutil
from importlib.util import find_spec
from pathlib import Path

from tiny import write_tiny

BRIEF = ["--learning-rate", "0.01", "--initial-epochs", "4", "--epochs", "4"]
VERBS = {
    "pack": lambda corpus, out: ["pack", corpus],
    "narrate": lambda corpus, out: ["narrate", corpus, "--encoder", "tfidf"],
    "train-paper": lambda corpus, out: ["train", corpus, "--recipe", "paper", "--out", out / "m.safetensors", *BRIEF],
    "train-best": lambda corpus, out: ["train", corpus, "--out", out / "m.safetensors"],
    "experiment": lambda corpus, out: [
        *("experiment", "no-narration", corpus, "--runs", "2", "--out", out / "e", "--train-videos", "2"),
        *("--learning-rate", "0.01", "--initial-epochs", "1", "--epochs", "1"),
    ],
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
UNFINISHED = ("unfinished.bin", "unfinished.json", "m.safetensors.checkpoint")  # names that say so


def write_corpus(folder: Path) -> Path:
    """The tiny corpus with features and subtitles."""
    corpus = write_tiny(folder, videos_per_task=5)
    for video in corpus.videos:
        lines = ["WEBVTT", ""]
        for said in corpus.annotations[video.key]:
            start, end = said.interval.start_s, said.interval.end_s
            lines += [f"00:{start:06.3f} --> 00:{end:06.3f}", f"now we {corpus.task_of(video).steps[said.step]}", ""]
        (folder / "crosstask_subtitles").mkdir(exist_ok=True)
        (folder / "crosstask_subtitles" / f"{video.id}.vtt").write_text("\n".join(lines))
    return folder


def write_films(folder: Path) -> Path:
    """A folder of one's own with three short films."""
    from extraction.media import write_video

    for i in range(3):
        write_video(folder / "videos" / "latte" / f"film {i}.mp4", seconds=2 + i)
    (folder / "corpus.toml").write_text('[tasks.latte]\nsteps = ["pour milk", "stir"]\n')
    return folder


class Bench:
    """A corpus, a place for results, and what an undisturbed run leaves in them."""

    def __init__(self, folder: Path, verb: str) -> None:
        self.corpus, self.out = write_corpus(folder / "corpus"), folder / "out"
        self.argv = [str(a) for a in VERBS[verb](self.corpus, self.out)]
        if verb == "extract":
            write_films(folder / "films")
        self.whole: dict[str, bytes] = {}

    def clear(self) -> None:
        """As before the first run."""
        for folder in (self.corpus / ".crosstask", self.corpus.parent / "films" / ".crosstask", self.out):
            shutil.rmtree(folder, ignore_errors=True)
        self.out.mkdir()

    def left(self) -> dict[str, bytes]:
        """Every file the verb left, hidden ones as well."""
        files = [path for folder in (self.corpus / ".crosstask", self.out) for path in folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.corpus.parent)): path.read_bytes() for path in files}

    def refuse_halves(self) -> int:
        """Every file with a final name is the whole one; how many files say of themselves that they are not final."""
        unfinished = 0
        for name, data in self.left().items():
            base = name.rsplit("/", 1)[-1]
            if base in UNFINISHED or (base.startswith(".") and base.endswith((".partial", ".lock"))):
                unfinished += 1
            else:
                assert name in self.whole, f"{name}: a file that an undisturbed run does not leave"
                assert data == self.whole[name], f"{name}: half a file under a final name"
        return unfinished
