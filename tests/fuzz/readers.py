"""Every reader of user files: how to call it, the name of its file, and how to write a valid one."""

import asyncio
import gc
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from crosstask.corpus_building.purity import read_marks
from crosstask.corpus_building.search_results import read_search_results
from crosstask.correction.importing import import_labels
from crosstask.datasets import open_corpus, read_corpus_toml, read_step_intervals, read_tasks, read_videos
from crosstask.datasets.breakfast import read_breakfast
from crosstask.datasets.niv import read_niv
from crosstask.datasets.release import read_seconds
from crosstask.datasets.step_lists import read_step_list
from crosstask.datasets.subtitles import read_narration
from crosstask.export import FORMATS, exported_files, localized_videos
from crosstask.features import NpyFeatures, find_text_side, pack_features, read_rows, read_shape, write_rows, write_text_side
from crosstask.features.pack_index import read_index
from crosstask.jobs import Job, finished_result
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.methods.zhukov19_checkpoint import Zhukov19Checkpoint, read_kept
from crosstask.model.file import load_model, save_model
from crosstask.model.model import Model
from crosstask.records import TextSide, refuse_escaping_id
from crosstask.runs import open_run, write_run
from crosstask.runs.record import Run, RunVideo
from crosstask.runs.relevance import read_relevance
from crosstask.text.encoders.articles import read_articles
from crosstask.text.encoders.learned import LearnedEncoder, Parameters, read_learned, write_learned
from crosstask.text.encoders.word_vectors import WordVectors, read_word_vectors
from tiny import TASKS, tiny_corpus

QUICK = AlternationSettings(learning_rate=0.01, initial_epochs=1, epochs=1)
VTT = "WEBVTT\nLanguage: en\n\n00:01.000 --> 00:04.000 align:start\nso <00:02.000>pour the milk\n\n00:05.000 --> 00:06.500\nstir it\n"
SRT = "1\n00:00:01,000 --> 00:00:04,500\npour the milk\n\n2\n00:00:05,000 --> 00:00:07,000\nstir it\n"
CUES = [{"start": 0.0, "end": 2.5, "text": "pour", "words": [{"word": "pour", "start": 0.1, "end": 0.5}]}]
JSON3 = {"events": [{"tStartMs": 0, "dDurationMs": 900, "segs": [{"utf8": "pour"}, {"utf8": " milk", "tOffsetMs": 300}]}]}
ARTICLES = [{"title": "Make Latte", "steps": [{"headline": "Pour milk.", "sentences": ["Warm it. Pour it."]}]}]
COIN = {"database": {"v": {"class": "Tea", "duration": 9.5, "annotation": [{"segment": [1, 4.5], "label": "boil"}]}}}
_BOIL = {"step_id": 7, "start_time": 1.0, "end_time": 4.5, "description": "Boil-Boil water", "has_errors": False}
CAPTAINCOOK = {"1_2": {"activity_id": 1, "activity_name": "Tea", "person_id": 2, "environment": 3, "steps": [_BOIL]}}
YOUCOOK2 = {"database": {"v": {"recipe_type": "1", "duration": 9, "annotations": [{"segment": [1, 4], "sentence": "boil it"}]}}}
ACTIVITYNET = {"database": {"v": {"duration": 9, "annotations": [{"segment": [1, 4], "label": "Making tea"}]}}}
PLANNING = [{"id": {"vid": "v", "task": "Tea", "legal_range": [[1, 4, 0], [5, 9, 1]]}}]
RESULTS = {"entries": [{"id": "abc", "title": "x", "duration": 12.5, "url": "http://y"}]}


@dataclass(frozen=True)
class Reader:
    """`read(path)` returns a value or raises InputError; `valid(path)` writes a valid file, called `name`."""

    name: str
    read: Callable[[Path], object]
    valid: Callable[[Path], object]

    @property
    def opens_viewer(self) -> bool:
        """True if the reader also opens the run in the viewer, which takes a hundred times as long as most."""
        return self.read in (_open_run, _complete_run, _scores, _read_labels, _import, _beside_run, _transcript)


def _text_side(path: Path) -> None:
    write_text_side(path.parent, TextSide("clip:clip#0", 0, 2, {"stir": np.array([0.6, 0.8], np.float32)}, "somewhere"))


def _text(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text, encoding="utf-8")


def _model(method: object) -> Callable[[Path], object]:
    def write(path: Path) -> object:
        corpus = tiny_corpus(videos_per_task=2)
        return save_model(Model(method.fit(corpus, np.random.default_rng(0)), corpus.tasks), path)  # type: ignore[attr-defined]

    return write


def _use_model(path: Path) -> object:
    """Load a model and localize once: a model that loads must be usable, or raise InputError."""
    return load_model(path).localize(np.zeros((12, 6), np.float32), TASKS["1"])


def _checkpoint(path: Path) -> object:
    class Enough(Exception):
        pass

    def stop(progress: object) -> None:
        if getattr(progress, "epochs_done", 0) == 1:
            raise Enough

    with suppress(Enough):
        Zhukov19("component", QUICK, stop, Zhukov19Checkpoint(path, 0.0)).fit(
            tiny_corpus(videos_per_task=1), np.random.default_rng(0)
        )
    return path


def _resume(path: Path) -> object:
    """Read a checkpoint, and resume training from it."""
    read_kept(path)
    return Zhukov19("component", QUICK, checkpoint=Zhukov19Checkpoint(path, 1e9)).fit(
        tiny_corpus(videos_per_task=1), np.random.default_rng(0)
    )


def _run_json(path: Path) -> object:
    video = RunVideo("1", "-v1_0", 12, None, (), ())
    run = Run(
        "A run", "demo", "crosstask demo", 0, True, {"1": TASKS["1"]}, (video,), ("proposed",), {}, {"proposed": (1.0, 0.5)}
    )
    return write_run(path.parent, run, {"proposed": [_localization()]}, [("proposed", video.key, np.zeros((12, 3)))])


def _localization() -> object:
    from crosstask.model.localization import localization_of

    return localization_of(TASKS["1"], np.zeros((12, 3)), "-v1_0")


def _open_run(path: Path) -> object:
    """Use a run as `export` and the viewer do: every format, every page; a request is answered or refused, never with a server error."""
    opened = open_run(path.parent)
    scores = [opened.scores(m, v.key) for m in opened.run.methods for v in opened.run.videos]
    videos = localized_videos(opened, all_steps=True)
    for name in FORMATS:
        for file, text in exported_files(videos, name, path.parent / "exports" / name, path.parent)[0].items():
            refuse_escaping_id(file, "file")
            text.encode("utf-8")
    if find_spec("fastapi") is not None:  # the extra 'serve'
        _view(path.parent)
    return opened.localizations, scores


class _Current:
    """The contents of the run that is opened now, behind routes that are built once: to build them takes longer than to answer."""

    def __init__(self, find: Callable[[], Any]) -> None:
        self.find = find

    def __getattr__(self, name: str) -> object:
        return _Current(lambda: self.find().backend) if name == "backend" else getattr(self.find(), name)


_OPENED: list[object] = []


@cache
def _routes() -> object:
    from crosstask.viewer.app import make_app

    return make_app(_Current(lambda: _OPENED[-1]))  # type: ignore[arg-type]


def _routes_of(contents: object) -> object:
    _OPENED[:] = [contents]
    return _routes()


def _view(folder: Path) -> None:
    from viewer.viewed import app_of

    labels = folder / "labels.jsonl"
    before = labels.read_bytes() if labels.is_file() else None
    _routes()
    with patch("crosstask.viewer.app.make_app", _routes_of):
        app = app_of(folder)
    gc.unfreeze()  # the viewer freezes what it has opened, since it opens one run only
    asyncio.run(_ask_everything(app))
    labels.unlink(missing_ok=True)
    if before is not None:
        labels.write_bytes(before)


async def _ask_everything(app: Any) -> None:
    """Ask for every page and save labels, without the threads of FastAPI's client; an error on the server is raised here."""
    from httpx import ASGITransport, AsyncClient

    from viewer.viewed import HERE

    async with AsyncClient(transport=ASGITransport(app), base_url=HERE) as client:
        videos = (await client.get("/api/videos")).json().get("videos", [])
        keys = [{"task": video["task"], "video": video["video"]} for video in videos]
        pages = [await client.get(f"/api/{page}") for page in ("run", "review", "learning")]
        for key in keys:
            sources = [source["id"] for source in pages[0].json()["sources"]] if pages[0].status_code == 200 else []
            pages += [await client.get("/api/video", params=key), await client.get("/api/transcript", params=key)]
            pages += [await client.get("/api/scores", params={**key, "source": source}) for source in sources]
            pages.append(await client.put("/api/label", json={**key, "step": 1, "kind": "right"}))
            pages.append(await client.put("/api/label", json={**key, "step": 1, "kind": "moment", "moment_s": 0.5}))
        assert all(page.status_code in (200, 404, 409, 422) for page in pages), [page.status_code for page in pages]
        assert (await client.get("/api/videos")).status_code == 200 or not keys, "after saving a label the run cannot be read"


def _complete_run(path: Path) -> object:
    if path.name != "run.json":
        kept = path.read_bytes() if path.exists() else None
        _run_json(path)
        if kept is not None:
            path.write_bytes(kept)
    return _open_run(path.parent / "run.json")


def _scores(path: Path) -> object:
    """Read a score file from its place in a run folder."""
    folder = path.parent / "run"
    if not (folder / "run.json").exists():
        _run_json(folder / "run.json")
    (folder / "scores" / "proposed" / "1_-v1_0.npy").write_bytes(path.read_bytes())
    return _open_run(folder / "run.json")


def _pack_index(path: Path) -> object:
    write_rows(path.parent / "f" / "a.npy", np.ones((3, 2), np.float32))
    return pack_features(NpyFeatures(path.parent / "f"), ["a"], path.parent)


def _read_pair(path: Path) -> object:
    path.with_suffix(".words.txt").write_text("milk\negg\n")
    return read_word_vectors(path)


def _learned(path: Path) -> object:
    table = WordVectors(("milk", "egg"), np.eye(2, dtype=np.float32))
    eye = np.eye(2, dtype=np.float32)
    return write_learned(path, LearnedEncoder(table, Parameters(eye, eye[0], eye, eye[0])), {})


def _use_learned(path: Path) -> object:
    return read_learned(path).encode(["pour milk", "egg"])


LABELS = (
    '{"format": 1, "change": 1, "task": "1", "video": "-v1_0", "from": "viewer", '
    '"labels": [{"step": 1, "name": "pour milk", "kind": "moment", "moment_s": 3.5, "interval": [2, 5]}]}\n'
    '{"format": 1, "change": 2, "task": "1", "video": "-v1_0", "undoes": 1}\n'
    '{"format": 1, "change": 3, "task": "1", "video": "-v1_0", "from": "review", "drawn": "random", "labels": [{"step": 2, "name": "stir coffee", '
    '"kind": "intervals", "intervals": [[3, 5], [7.5, 9]], "right": true}, {"step": 3, "name": "pour coffee", "kind": "not shown"}]}\n'
)
STEPS_CSV = (
    "task,video,step,moment_s,start_s,end_s,shown\nMake Latte,-v1_0,pour milk,3,2.5,4,yes\nMake Latte,-v1_0,stir coffee,,,,no\n"
)
DETECTIONS = {"version": "VERSION 1.3", "results": {"-v1_0": [{"label": "pour milk", "score": -1.5, "segment": [2.5, 4]}]}}
REGION = {
    "value": {"ranges": [{"start": 26, "end": 50}], "timelinelabels": ["pour milk"]},
    "meta": {"start_s": 1.0, "end_s": 2.0},
}
STUDIO = [{"data": {"video": "-v1_0.mp4", "task": "Make Latte"}, "annotations": [{"result": [REGION]}]}]


def _read_labels(path: Path) -> object:
    _run_json(path.parent / "run.json")
    return _open_run(path.parent / "run.json")


def _beside_run(path: Path) -> object:
    """Use a run that has this file."""
    folder = path.parent if path.parent.name != "transcripts" else path.parent.parent
    if not (folder / "run.json").exists():
        _run_json(folder / "run.json")
    read_relevance(folder, {}, ())
    return _open_run(folder / "run.json")


def _transcript(path: Path) -> object:
    """Read the transcript of a video of a run."""
    (path.parent / "transcripts").mkdir(exist_ok=True)
    (path.parent / "transcripts" / "1_-v1_0.json").write_bytes(path.read_bytes())
    return _beside_run(path)


def _niv(path: Path) -> object:
    (path.parent / "tasks.json").write_text('{"making coffee": ["fill water", "pour"]}')
    (path.parent / "annotations").mkdir(exist_ok=True)
    (path.parent / "annotations" / "coffee_0001.csv").write_bytes(path.read_bytes())
    return read_niv(path.parent)


def _import(path: Path) -> object:
    """Import labels into a run that has the video."""
    folder = path.parent / "run"
    if not (folder / "run.json").exists():
        _run_json(folder / "run.json")
    (folder / "labels.jsonl").unlink(missing_ok=True)
    import_labels(open_run(folder), path, confirm=True)
    return _open_run(folder / "run.json")


READERS = {
    "tasks": Reader(
        "tasks.txt", lambda p: read_tasks(p, True), _text("7\nMake Latte\nhttp://x\n2\npour milk,stir\n\n8\nTea\nu\n1\nboil\n\n")
    ),
    "videos": Reader("videos.csv", lambda p: read_videos(p, TASKS), _text("1,-abc,http://y\n2,x_y,http://z\n")),
    "seconds": Reader("video_seconds.csv", read_seconds, _text("-abc,120\nx,7\n")),
    "text side": Reader("text_side.safetensors", lambda p: find_text_side(p.parent), _text_side),
    "annotation": Reader("1_a.csv", lambda p: read_step_intervals(p, TASKS["1"]), _text("1,0.5,3\n3,10.25,14\n")),
    "corpus.toml": Reader(
        "corpus.toml",
        lambda p: read_corpus_toml(p.parent),
        _text('[tasks.latte]\ntitle = "Latte"\nsteps = ["pour milk", "stir"]\n'),
    ),
    "step list": Reader("steps.csv", read_step_list, _text('step\n1. pour milk\n"stir, well"\n')),
    "niv": Reader("coffee_0001.csv", _niv, _text("FILL WATER,1.5,4\nPOUR,6,9.2\n")),
    "relevance": Reader("relevance.json", _beside_run, _text('{"format": 1, "videos": {"1_-v1_0": "irrelevant"}}')),
    "transcript": Reader("transcript.json", _transcript, _text('{"format": 1, "lines": [[0.0, 2.5, "pour the milk"]]}')),
    "webvtt": Reader("a.vtt", read_narration, _text(VTT)),
    "srt": Reader("a.srt", read_narration, _text(SRT)),
    "json cues": Reader("a.json", read_narration, _text(json.dumps(CUES))),
    "json3": Reader("a.json3", read_narration, _text(json.dumps(JSON3))),
    "COIN": Reader("c.json", open_corpus, _text(json.dumps(COIN))),
    "CaptainCook4D": Reader("k.json", open_corpus, _text(json.dumps(CAPTAINCOOK))),
    "YouCook2": Reader("y.json", open_corpus, _text(json.dumps(YOUCOOK2))),
    "ActivityNet": Reader("n.json", open_corpus, _text(json.dumps(ACTIVITYNET))),
    "planning list": Reader("p.json", open_corpus, _text(json.dumps(PLANNING))),
    "Breakfast": Reader("P03_tea.txt", lambda p: read_breakfast(p.parent), _text("1-30 SIL\n31-150 pour_milk\n")),
    "search results": Reader("r.json", read_search_results, _text(json.dumps(RESULTS))),
    "marks": Reader("m.csv", read_marks, _text("tea,abc,1\ntea,def,0\n")),
    "articles": Reader("articles.json", read_articles, _text(json.dumps(ARTICLES))),
    "features": Reader(
        "a.npy", lambda p: (read_shape(p), np.asarray(read_rows(p)).sum()), lambda p: write_rows(p, np.ones((5, 3), np.float16))
    ),
    "scores": Reader("s.npy", _scores, lambda p: np.save(p, np.zeros((12, 3), np.float16))),
    "pack index": Reader("index.json", read_index, _pack_index),
    "word vectors": Reader("words.txt", read_word_vectors, _text("2 3\nmilk 0.1 0.2 0.3\negg 1 2 3\n")),
    "word vector pair": Reader("w.npy", _read_pair, lambda p: np.save(p, np.ones((2, 3), np.float16))),
    "learned encoder": Reader("e.safetensors", _use_learned, _learned),
    "paper model": Reader("m.safetensors", _use_model, _model(Zhukov19("component", QUICK))),
    "best model": Reader("b.safetensors", _use_model, _model(HiddenMarkovModel())),
    "checkpoint": Reader("c.checkpoint", _resume, _checkpoint),
    "run": Reader("run.json", _open_run, _run_json),
    "localizations": Reader("localizations.json", _complete_run, _run_json),
    "labels": Reader("labels.jsonl", _read_labels, _text(LABELS)),
    "label CSV": Reader("steps.csv", _import, _text(STEPS_CSV)),
    "label chapters": Reader("1_-v1_0.vtt", _import, _text("WEBVTT\n\n00:00:02.500 --> 00:00:04.000\npour milk\n")),
    "label detections": Reader("activitynet.json", _import, _text(json.dumps(DETECTIONS))),
    "label regions": Reader("label-studio.json", _import, _text(json.dumps(STUDIO))),
    "job result": Reader(
        "j.json", lambda p: finished_result(p.parent, Job("j", {"n": 1})), _text('{"values": {"n": 1}, "result": {"x": 2}}')
    ),
}
