"""Narration windows on real speech, scored against the annotation. Writes JSON.

CROSSTASK_DATA=DATA python -m benchmarks.real_data.narration windows --out results

    Methods and encoders, ablations of the default method, settings chosen on one task and applied to the other, few videos, and time:
    narration-windows.json, narration-grid.json, narration-timings.json in the folder --out.

CROSSTASK_DATA=DATA python -m benchmarks.real_data.narration encoders --out results

    The paper's comparison of text encoders, windows made as in the paper: narration-encoders.json in the folder --out (narration_encoders.py).
"""

import time
from collections.abc import Callable
from dataclasses import asdict
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.real_data.narration_encoders import encoders
from benchmarks.scripts import arguments_of, data_folder

from crosstask.datasets import open_corpus
from crosstask.metrics.windows import score_windows
from crosstask.narration.collection import CollectionSettings, SpokenEvidence, collection_windows
from crosstask.narration.narrate import (
    SpeechMatcher,
    narrate_best,
    narrate_paper,
    speech_matcher,
    spoken_evidence,
    transcripts,
    usable_videos,
)
from crosstask.storage import write_json
from crosstask.storage.derived_folders import cache_folder
from crosstask.text.encoders import CachedEncoder, open_encoder

COMMAND = "CROSSTASK_DATA=DATA python -m benchmarks.real_data.narration windows --out results"
GRID = {
    "temperature": (0.25, 0.4, 0.6),
    "absence_threshold": (1.5, 2.0, 2.5),
    "lag_s": (0.5, 1.5, 2.5),
    "order_weight": (0.5, 1.0),
}
ABLATIONS = {
    "best": {},
    "without TF-IDF beside it": {"tfidf_weight": 0.0},
    "without its own word vectors": {"word_vectors_weight": 0.0},
    "without prototypes": {"prototype_weight": 0.0},
    "without positions": {"position_weight": 0.0},
    "without absence": {"absence_threshold": -1e3},
    "ordered marginals alone": {"order_weight": 1.0},
    "without lag": {"lag_s": 0.0},
}


class Judge:
    """The narrated, annotated videos of the release, and scores of windows for them."""

    def __init__(self) -> None:
        self.corpus = open_corpus(data_folder() / "crosstask")
        self.videos = [v for v in self.corpus.videos if v.id in self.corpus.subtitles and v.key in self.corpus.annotations]
        self.usable, _ = usable_videos(self.corpus, self.videos)
        self.said = transcripts(self.usable)

    def scores(self, windows: dict) -> dict:
        return score_windows(self.corpus, self.videos, windows).to_json()


def heard_by_task(judge: Judge, listener: SpeechMatcher) -> dict[str, tuple[list, list[SpokenEvidence]]]:
    """Similarities once, so that settings can be tried in seconds."""
    tasks: dict[str, tuple[list, list[SpokenEvidence]]] = {}
    for v in sorted(judge.usable, key=lambda v: v.video.key):
        keys, heard = tasks.setdefault(v.video.task, ([], []))
        keys.append(v.video.key)
        heard.append(spoken_evidence(judge.corpus.tasks[v.video.task], v.narration, v.n_segments, listener))
    return tasks


def try_settings(judge: Judge, tasks: dict, listener: SpeechMatcher, settings: CollectionSettings) -> dict:
    windows: dict = {}
    for keys, heard in tasks.values():
        windows |= dict(zip(keys, collection_windows(heard, listener.weights(settings), settings), strict=True))
    return judge.scores(windows)


def ablations(judge: Judge, tasks: dict, listener: SpeechMatcher) -> list[dict]:
    return [
        {"setting": name, **try_settings(judge, tasks, listener, CollectionSettings(**changed))}
        for name, changed in ABLATIONS.items()
    ]


def across_tasks(judge: Judge, tasks: dict, listener: SpeechMatcher) -> dict:
    """Settings with the best precision + recall + hit rate on one task, judged on the other; beside them, the defaults."""
    rows = []
    for values in product(*GRID.values()):
        settings = CollectionSettings(**dict(zip(GRID, values, strict=True)))
        rows.append((settings, try_settings(judge, tasks, listener, settings)["tasks"]))
    names = sorted(tasks)

    def worth(figures: dict) -> float:
        return figures["precision"] + figures["recall"] + figures["hit_rate"]

    result: dict = {"grid": GRID, "points": len(rows), "default": asdict(CollectionSettings())}
    for chosen_on, judged_on in (names, names[::-1]):
        settings, figures = max(rows, key=lambda row: worth(row[1][chosen_on]))
        result[f"chosen on {chosen_on}, judged on {judged_on}"] = {"settings": asdict(settings), "figures": figures[judged_on]}
    for name in names:
        values = np.array([[figures[name][key] for key in ("precision", "recall", "hit_rate")] for _, figures in rows])
        result[f"range over the grid on {name}"] = {
            "lowest": values.min(axis=0).tolist(),
            "median": np.median(values, axis=0).tolist(),
            "highest": values.max(axis=0).tolist(),
        }
    return result


def small_collections(judge: Judge, encoder, draws: int = 5) -> list[dict]:
    """The best recipe when only a few videos of a task are at hand."""
    rows = []
    for n in (1, 3, 10, 30):
        figures = []
        for draw in range(draws):
            rng = np.random.default_rng(draw)
            chosen = []
            for task in sorted({v.video.task for v in judge.usable}):
                of_task = [v for v in judge.usable if v.video.task == task]
                chosen += [of_task[i] for i in rng.choice(len(of_task), n, replace=False)]
            windows = narrate_best(judge.corpus, chosen, encoder).windows
            figures.append(score_windows(judge.corpus, [v.video for v in chosen], windows).to_json())
        rows.append(
            {
                "videos_per_task": n,
                "draws": draws,
                **{k: float(np.mean([f[k] for f in figures])) for k in ("precision", "recall", "hit_rate")},
            }
        )
    return rows


def seconds_for(work: Callable[[], object]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}


def timings(judge: Judge, with_encoder: bool) -> dict:
    """Whole runs, from files to windows; the sentence encoder once bare, once within a first run, once from its cache."""

    def run(encoder_of: Callable[[list[str]], object], recipe) -> None:
        usable, _ = usable_videos(judge.corpus, judge.videos)
        recipe(judge.corpus, usable, encoder_of(transcripts(usable)))

    cues = sum(len(v.narration.cues) for v in judge.usable)
    result: dict = {"videos": len(judge.usable), "cues": cues}
    result["tfidf, paper recipe"] = seconds_for(lambda: run(lambda said: open_encoder("tfidf", None, said), narrate_paper))
    result["tfidf, best recipe"] = seconds_for(lambda: run(lambda said: open_encoder("tfidf", None, said), narrate_best))
    known = cache_folder() / "embeddings"
    result["sentence, best recipe, from the cache"] = seconds_for(
        lambda: run(lambda said: CachedEncoder(open_encoder("sentence"), known), narrate_best)
    )
    if with_encoder:
        part = [v for v in judge.usable if v.video.task == judge.usable[0].video.task][:20]
        model = open_encoder("sentence")
        model.encode(["warm"])
        with TemporaryDirectory() as folder:
            first = seconds_for(lambda: narrate_best(judge.corpus, part, CachedEncoder(model, Path(folder))))
        from crosstask.narration.units import cue_windows

        texts = sorted({t for v in part for n in (0, 1) for t in cue_windows(v.narration, n).texts}, key=len)
        bare = seconds_for(lambda: model.encode(texts))
        result["sentence, best recipe, first run of 20 videos"] = first
        result["the encoder alone on the same texts"] = bare
        result["overhead"] = first["cpu_s"] / bare["cpu_s"] - 1
    return result


def windows(out: Path) -> None:
    """Write the three files about windows."""
    judge = Judge()
    sentence = CachedEncoder(open_encoder("sentence"), cache_folder() / "embeddings")
    tfidf = open_encoder("tfidf", None, judge.said)
    rows = []
    for name, encoder in (("tfidf", tfidf), ("sentence", sentence)):
        for recipe, narrate in (("paper", narrate_paper), ("best", narrate_best)):
            rows.append({"encoder": name, "recipe": recipe, **judge.scores(narrate(judge.corpus, judge.usable, encoder).windows)})
            print(name, recipe, {k: round(v, 4) for k, v in rows[-1].items() if isinstance(v, float)}, flush=True)
    listener = speech_matcher(sentence, judge.said)
    tasks = heard_by_task(judge, listener)
    write_json(
        out / "narration-windows.json",
        {
            "command": COMMAND,
            "rows": rows,
            "parts": ablations(judge, tasks, listener),
            "small_collections": small_collections(judge, sentence),
        },
    )
    write_json(out / "narration-grid.json", {"command": COMMAND, **across_tasks(judge, tasks, listener)})
    write_json(out / "narration-timings.json", {"command": COMMAND, **timings(judge, with_encoder=True)})


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("what", choices=("windows", "encoders"))
    arguments = parser.parse_args()
    {"windows": windows, "encoders": encoders}[arguments.what](arguments.out)


if __name__ == "__main__":
    main()
