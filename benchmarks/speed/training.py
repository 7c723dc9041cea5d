"""`make bench`: the paper's training, three ways in one run on the same files, epochs and seeds. Writes bench.json.

(a) the textbook trainer (`textbook.py`), (b) ours, (c) the floor: streaming the active rows once per epoch on one thread.
Then CrossTask's full shape for ours and the floor, and what doubling each size costs. Timed on synthetic data of the real sizes.

    python -m benchmarks.speed.training --out bench.json --published FOLDER

also times the published code in FOLDER (a clone of DmZhukov/CrossTask with its `dp` extension built) on the same files, to see that the
textbook trainer is a fair baseline.

    python -m benchmarks.speed.training --measure profile --out profile.json     milliseconds of each part of an epoch (training_profile.py)
    python -m benchmarks.speed.training --measure cost --out cost.json           CPU seconds of both methods (training_cost.py)
"""

import argparse
import json
import logging
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
from benchmarks.speed.textbook import TextbookVideo, train_textbook

from crosstask.datasets.release import read_release, write_release
from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.evaluation.paired import mean_interval
from crosstask.features.packed_corpus import with_packed_features
from crosstask.inference.compiled import compiled_with_reordered_sums
from crosstask.learning.zhukov19.alternation import AlternationSettings, Progress, alternate, as_stored, begin
from crosstask.learning.zhukov19.training_set import TaskArrays, TaskOfSteps, TrainingVideo, task_arrays, video_arrays
from crosstask.methods.component_scorer import ComponentScorer
from crosstask.methods.training_videos import TrainingArrays, training_arrays
from crosstask.records import Corpus
from crosstask.synthetic import Shape, generate_corpus
from crosstask.text import vocabulary_of

SPEED = Shape(
    "speed", 12, 0, 15, 20, 0, 0, mean_log_seconds=5.7, task_deviation_log_seconds=0.05, video_deviation_log_seconds=0.15
)
PAPER = AlternationSettings(learning_rate=1e-5, dropout=0.7)


@compiled_with_reordered_sums
def touch_rows(stored, first_row, first_active, active):
    """Read every active row once, from first to last column."""
    total = 0
    for v in range(first_row.size):
        for i in range(first_active[v], first_active[v + 1]):
            row = stored[first_row[v] + active[i]]
            for d in range(row.size):
                total += row[d]
    return total


def floor_seconds(rows, videos) -> float:
    """Seconds to stream the active rows once, one thread; the best of three."""
    stored = as_stored(rows)
    times = []
    for _ in range(4):
        begun = perf_counter()
        touch_rows(stored, videos.first_row, videos.first_active, videos.active)
        times.append(perf_counter() - begun)
    return min(times[1:])


def our_seconds(
    arrays: TrainingArrays, n_components: int, settings: AlternationSettings, seed: int
) -> tuple[list[float], Progress]:
    """Seconds of each epoch, and what was learnt."""
    progress = begin(n_components, arrays.rows.shape[1], arrays.videos, seed)
    marks = [perf_counter()]
    alternate(arrays.rows, arrays.videos, arrays.tasks, progress, settings, seed, lambda _: marks.append(perf_counter()))
    return list(np.diff(marks)), progress


def speed_corpus(folder: Path) -> Path:
    """The folder, now holding 12 tasks of 15 training and 20 test videos of about 300 s in the published layout, D = 3200, float32."""
    corpus = generate_corpus(SPEED, "clear", 0, 3200)
    (folder / "crosstask_features").mkdir(parents=True)
    for video in corpus.videos:
        np.save(folder / "crosstask_features" / f"{video.id}.npy", corpus.features.rows(video.id).astype(np.float32))
    write_release(corpus, folder)
    return folder


def packed(folder: Path) -> tuple[Corpus, dict]:
    """The corpus of a folder with its features packed, and how fast packing went beside the disk alone: the same bytes read and written."""
    files = sorted((folder / "crosstask_features").glob("*.npy"))
    n_bytes = sum(path.stat().st_size for path in files)
    begun = perf_counter()
    with (folder / "copy").open("wb") as copy:  # halves of float32: what packing reads, and as many bytes as it writes
        for path in files:
            content = path.read_bytes()
            copy.write(content[: len(content) // 2])
        copy.flush()
        os.fsync(copy.fileno())
    copying = perf_counter() - begun
    (folder / "copy").unlink()
    begun = perf_counter()
    corpus = with_packed_features(read_release(folder))
    packing = perf_counter() - begun
    begun = perf_counter()
    with_packed_features(read_release(folder))
    return corpus, {
        "mb": n_bytes / 1e6,
        "mb_per_s": n_bytes / 1e6 / packing,
        "reading_and_writing_alone_mb_per_s": n_bytes / 1e6 / copying,
        "reopening_s": perf_counter() - begun,
    }


def published_seconds(code: Path, folder: Path, settings: AlternationSettings) -> list[float]:
    """Seconds of each epoch of the published code, from when it prints them; stopped before it evaluates."""
    release = folder / "crosstask_release"
    command = [sys.executable, "-W", "ignore", "-u", str(code / "train.py"), "--n_train", str(SPEED.train_videos_per_task)]
    for name, path in (
        ("primary_path", release / "tasks_primary.txt"),
        ("related_path", release / "tasks_related.txt"),
        ("annotation_path", release / "annotations"),
        ("video_csv_path", release / "videos.csv"),
        ("val_csv_path", release / "videos_val.csv"),
        ("features_path", folder / "crosstask_features"),
        ("constraints_path", folder / "crosstask_constraints"),
    ):
        command += [f"--{name}", str(path)]
    command += ["--lr", str(settings.learning_rate), "-q", str(settings.dropout), "-d", "3200"]
    command += ["--pretrain_epochs", str(settings.initial_epochs), "--epochs", str(settings.epochs)]
    with subprocess.Popen(command, cwd=code, stdout=subprocess.PIPE, text=True) as process:
        marks = [perf_counter() for line in process.stdout if line.startswith(("Training", "Epoch"))]
        if process.wait() != 0:
            raise SystemExit(f"the published code in {code} ended with {process.returncode}")
    return list(np.diff(marks))


def beside_the_textbook(corpus: Corpus, folder: Path, settings: AlternationSettings, seeds: list[int], code: Path | None) -> dict:
    """Per video and epoch: the textbook trainer, ours, the floor; and recall of both on the test videos."""
    vocabulary = vocabulary_of(corpus.tasks.values())
    train = [v for v in corpus.videos if int(v.id.rpartition("v")[2]) <= SPEED.train_videos_per_task]
    test = [v for v in corpus.videos if v not in train]
    chosen = corpus.only(train)
    arrays = training_arrays(chosen, vocabulary)
    our_seconds(arrays, len(vocabulary.names), replace(settings, initial_epochs=1, epochs=1), 0)  # compile
    videos, averaging = textbook_videos(chosen, vocabulary, folder)
    textbook, ours, recalls = [], [], {"textbook": [], "ours": []}
    for seed in seeds:
        parameters, seconds = train_textbook(
            videos,
            averaging,
            len(vocabulary.names),
            arrays.rows.shape[1],
            settings.learning_rate,
            settings.dropout,
            settings.initial_epochs,
            settings.epochs,
            seed,
        )
        textbook.append(np.mean(seconds))
        seconds, progress = our_seconds(arrays, len(vocabulary.names), settings, seed)
        ours.append(np.mean(seconds))
        print(f"seed {seed}: textbook {textbook[-1]:.2f} s an epoch, ours {ours[-1]:.3f} s", file=sys.stderr, flush=True)
        for name, learnt in (("textbook", parameters.astype(np.float32)), ("ours", progress.parameters)):
            result = evaluate_videos(corpus, ComponentScorer(vocabulary, learnt), test).to_json()
            recalls[name].append(result["recall"]["mean"])
    floor = floor_seconds(arrays.rows, arrays.videos)
    per_video = 1e3 / len(train)
    published = {}
    if code is not None:
        seconds = float(np.mean(published_seconds(code, folder, settings)))
        published = {"published_ms_per_video": seconds * per_video, "textbook_to_published": float(np.mean(textbook)) / seconds}
    difference = np.array(recalls["ours"]) - np.array(recalls["textbook"])
    return {
        **published,
        "recall_difference": {"mean": float(difference.mean()), "half_interval_95": half_interval(difference)},
        "speedup": float(np.mean(textbook) / np.mean(ours)),
        "textbook_ms_per_video": float(np.mean(textbook) * per_video),
        "ours_ms_per_video": float(np.mean(ours) * per_video),
        "floor_ms_per_video": float(floor * per_video),
        "recall": {name: float(np.mean(values)) for name, values in recalls.items()},
        "recall_by_seed": recalls,
        "seeds": seeds,
        "epochs": [settings.initial_epochs, settings.epochs],
    }


def half_interval(differences: np.ndarray) -> float:
    """Half of the 95 % interval of a mean by Student's t."""
    interval = mean_interval(differences)
    return interval["high"] - interval["mean"] if len(differences) > 1 else float("nan")


def textbook_videos(corpus: Corpus, vocabulary, folder: Path):
    """The training videos as files and dense matrices, as the textbook trainer wants them."""
    from crosstask.methods.training_videos import allowed_segments

    numbers = {task: i for i, task in enumerate(corpus.tasks)}
    averaging = []
    for task in corpus.tasks.values():
        parts = vocabulary.components_of(task)
        dense = np.zeros((len(task.steps), len(vocabulary.names)))
        dense[:, parts.numbers] = parts.averaging
        averaging.append(dense)
    videos = []
    for video in corpus.videos:
        path = folder / "crosstask_features" / f"{video.id}.npy"
        length = corpus.features.length(video.id)
        allowed = allowed_segments(corpus.windows[video.key], length, len(corpus.task_of(video).steps))
        videos.append(TextbookVideo(path, numbers[video.task], allowed.astype(np.float64)))
    return videos, averaging


def random_arrays(
    n_videos: int, n_segments: int, n_steps: int, n_dimensions: int, n_tasks: int, path: Path, seed: int = 0
) -> TrainingArrays:
    """A problem of any size with rows in a mapped file: contents do not matter for time."""
    tasks, videos = random_videos(n_videos, n_segments, n_steps, n_tasks, seed)
    rows = mapped_rows(path, n_videos * n_segments, n_dimensions, seed)
    return TrainingArrays(rows, video_arrays(videos, tasks), tasks, ())


def random_videos(
    n_videos: int, n_segments: int, n_steps: int, n_tasks: int, seed: int
) -> tuple[TaskArrays, list[TrainingVideo]]:
    """Tasks of random components, and videos dealt to them in turn, with windows in order."""
    rng = np.random.default_rng(seed)
    n_components = 5 * n_tasks
    tasks = []
    for _ in range(n_tasks):
        steps = [rng.choice(n_components, size=2, replace=False) for _ in range(n_steps)]
        used = np.unique(np.concatenate(steps))
        membership = np.zeros((n_steps, len(used)))
        for k, step in enumerate(steps):
            membership[k, np.searchsorted(used, step)] = 0.5
        tasks.append(TaskOfSteps(used, membership))
    videos = []
    for i in range(n_videos):
        allowed = np.zeros((n_segments, n_steps), np.bool_)
        starts = np.sort(rng.uniform(0, n_segments - 9, n_steps)).astype(int)
        for k, start in enumerate(starts):
            allowed[start : start + 9 + k, k] = True
        videos.append(TrainingVideo(i % n_tasks, i * n_segments, n_segments, allowed))
    return task_arrays(tasks), videos


def mapped_rows(path: Path, n_rows: int, n_dimensions: int, seed: int) -> np.memmap:
    """(n, D) float16 noise in a file, written unless it is there."""
    if not path.exists() or path.stat().st_size != 2 * n_rows * n_dimensions:
        rng = np.random.default_rng([seed, 1])
        block = rng.standard_normal((4096, n_dimensions), dtype=np.float32).astype(np.float16)
        with path.open("wb") as file:
            for first in range(0, n_rows, len(block)):
                file.write(block[: n_rows - first].tobytes())
    return np.memmap(path, dtype=np.float16, mode="r", shape=(n_rows, n_dimensions))


def epoch_pair(arrays: TrainingArrays, settings: AlternationSettings) -> float:
    """Seconds of one initial and one alternating epoch, the fastest of four: others use the machine too."""
    n_components = int(arrays.tasks.components.max()) + 1
    seconds, _ = our_seconds(arrays, n_components, replace(settings, initial_epochs=4, epochs=4), 0)
    return min(seconds[:4]) + min(seconds[4:])


def scaling(folder: Path) -> dict:
    """What doubling each size costs, as a ratio."""
    base = {"n_videos": 300, "n_segments": 200, "n_steps": 8, "n_dimensions": 512, "n_tasks": 10}
    result = {}
    for name in base:
        one = epoch_pair(random_arrays(**base, path=folder / "one"), PAPER)
        two = epoch_pair(random_arrays(**(base | {name: 2 * base[name]}), path=folder / "two"), PAPER)
        result[name.removeprefix("n_")] = two / one
    return result


def full_shape(folder: Path, epochs: int, rounds: int) -> dict:
    """CrossTask's size: 83 tasks, 2,490 training videos, D = 3200; the time of 60 epochs against the floor's, the median round."""
    arrays = random_arrays(2490, 300, 8, 3200, 83, folder / "full")
    settings = replace(PAPER, initial_epochs=epochs, epochs=epochs)
    n_components = int(arrays.tasks.components.max()) + 1
    memory, floors, pairs = anonymous_mb(), [floor_seconds(arrays.rows, arrays.videos)], []
    for _ in range(rounds):
        seconds, progress = our_seconds(arrays, n_components, settings, 0)
        memory = max(memory, anonymous_mb())
        del progress
        pairs.append(float(np.median(seconds[:epochs]) + np.median(seconds[epochs:])))
        floors.append(floor_seconds(arrays.rows, arrays.videos))
    ratios = [pair / (before + after) for pair, before, after in zip(pairs, floors, floors[1:], strict=False)]
    return {
        "floor_ratio": float(np.median(ratios)),
        "floor_ratio_by_round": ratios,
        "sixty_epochs_s": 30 * float(np.median(pairs)),
        "floor_s_per_epoch": float(np.median(floors)),
        "peak_anonymous_mb": memory,
    }


def anonymous_mb() -> float:
    """Memory of this process that no file backs, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        return int(fields["RssAnon"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("bench.json"))
    parser.add_argument("--measure", choices=("speed", "profile", "cost"), default="speed")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=2, help="epochs of each kind for the comparison with the textbook trainer")
    parser.add_argument("--published", type=Path, help="a clone of the published code, timed on the same files")
    parser.add_argument("--only-full", action="store_true", help="CrossTask's full shape and nothing else")
    parser.add_argument("--skip-full", action="store_true", help="leave out CrossTask's full shape (5 GB of disk)")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    if arguments.measure == "speed":
        result = speed(arguments)
    else:
        from benchmarks.speed.training_cost import cost
        from benchmarks.speed.training_profile import profile

        result = {"profile": profile, "cost": cost}[arguments.measure]()
        result["command"] = (
            f"python -m benchmarks.speed.training --measure {arguments.measure} --out results/{arguments.out.name}"
        )
    arguments.out.write_text(json.dumps(result, indent=2, sort_keys=True) + "\n")
    print(json.dumps(result, indent=2, sort_keys=True))


def speed(arguments: argparse.Namespace) -> dict:
    """Speed compared with the textbook trainer, the published code and reading the rows once."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("CROSSTASK_BENCH_DIR")) as name:
        folder, result = Path(name), {}
        if not arguments.only_full:
            result = smaller_shapes(folder, arguments)
        if not arguments.skip_full:
            result |= full_shape(folder, 5, 5)
    result |= {
        "what": "ratios in one run on shared cores, synthetic data of the real sizes; FOLDER is a clone of the published code",
        "command": f"python -m benchmarks.speed.training --out results/{arguments.out.name} --seeds {arguments.seeds} --epochs {arguments.epochs}"
        f"{' --published FOLDER' if arguments.published else ''}{' --only-full' if arguments.only_full else ''}"
        f"{' --skip-full' if arguments.skip_full else ''}",
    }
    return result


def smaller_shapes(folder: Path, arguments: argparse.Namespace) -> dict:
    """Beside the textbook trainer, packing, and what doubling each size costs."""
    corpus, packing = packed(speed_corpus(folder / "speed"))
    settings = replace(PAPER, initial_epochs=arguments.epochs, epochs=arguments.epochs)
    seeds = list(range(arguments.seeds))
    result = beside_the_textbook(corpus, folder / "speed", settings, seeds, arguments.published)
    result["packing"] = packing
    result["scaling"] = scaling(folder)
    return result


if __name__ == "__main__":
    main()
