"""What the synthetic corpus was calibrated against, and the same statistics of the synthetic corpus. Writes JSON.

CROSSTASK_DATA=DATA python -m benchmarks.synthetic.calibration --out results/synthetic-calibration.json

Step lists: shared words in the release. Windows and mentions of objects: real transcripts of Build Simple Floating Shelves and Make French Toast.
Appearance: features of Breakfast; synthetic features are generated for its step lists and timelines, and of both the 64 columns for motion are compared.
Bounds: recall of Uniform and of full supervision. No weakly supervised method takes part, and no seed is one of those that results are reported for.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from statistics import fmean

import numpy as np
import numpy.typing as npt
from benchmarks.scripts import arguments_of, data_folder, recall_of
from benchmarks.synthetic.appearance_statistics import appearance_statistics, centred_videos
from benchmarks.synthetic.sharing import N_DIMENSIONS, SETTINGS, SHAPE
from benchmarks.synthetic.window_statistics import real_windows, window_statistics

from crosstask.corpus_building.task_map import component_distances
from crosstask.datasets import open_corpus
from crosstask.evaluation.splits import paper_split
from crosstask.methods.order_only import Uniform
from crosstask.methods.supervised import Supervised
from crosstask.records import Corpus, Task, Video
from crosstask.storage import write_json
from crosstask.synthetic import DIFFICULTIES, Shape, generate_corpus, generate_without_features
from crosstask.synthetic.appearance import appearance_of_task, draw_features, draw_latents, draw_projection
from crosstask.synthetic.random_streams import generator
from crosstask.text import stems_of_step
from crosstask.text.stems import stem

SEEDS = (1000, 1001, 1002)
STEP_LISTS = Shape("step lists", 18, 65, 1, 0, 0, 1)
ONLY_PRIMARY = Shape("primary tasks", 18, 0, SHAPE.train_videos_per_task, SHAPE.test_videos_per_task, 0, 0)
EDGES_S = (0, 1e-9, 10, 20, 40, 80, 160)  # seconds from the nearest use of an object; the first bin is its use
JOINING = {"in", "from", "on", "to", "with"}
MOTION_COLUMNS, COLUMNS = 64, 200  # the first 0.32 of the columns are the block for motion


def sharing_of(tasks: Sequence[Task]) -> dict[str, float]:
    """How often tasks share words and whole steps."""
    words = {task.id: [set(stems_of_step(step)) for step in task.steps] for task in tasks}
    in_tasks = Counter(word for steps in words.values() for word in set().union(*steps))
    names = Counter(name for task in tasks for name in {step.lower() for step in task.steps})
    primary, related = ([task for task in tasks if task.primary == kind] for kind in (True, False))

    def over_steps(of: Sequence[Task], figure: Callable[[set[str]], float]) -> float:
        return fmean(figure(step) for task in of for step in words[task.id])

    nearest = np.sort(1 - component_distances([*primary, *related])[: len(primary), len(primary) :], axis=1)
    return {
        "components": len(in_tasks),
        "tasks a component": fmean(in_tasks.values()),
        "words a step": over_steps(tasks, len),
        "primary steps with the name of a step of another task": fmean(names[s.lower()] > 1 for t in primary for s in t.steps),
        "related steps with the name of a step of another task": fmean(names[s.lower()] > 1 for t in related for s in t.steps),
        "other tasks with the name of a primary step": fmean(names[s.lower()] - 1 for t in primary for s in t.steps),
        "other tasks with a word of a primary step": over_steps(primary, lambda step: fmean(in_tasks[w] - 1 for w in step)),
        "words of primary steps in another task": over_steps(primary, lambda step: fmean(in_tasks[w] > 1 for w in step)),
        "primary steps with no word in another task": over_steps(primary, lambda step: all(in_tasks[w] == 1 for w in step)),
        "similarity of a primary task to its nearest related one": float(nearest[:, -1].mean()),
        "similarity of a primary task to a related one": float(nearest.mean()),
    }


def mentions_of_objects(real: Corpus) -> dict[str, float]:
    """Rate at which the narration names an object of a step, by the seconds from its nearest use, relative to its mean rate; mean over objects."""
    counts: dict[tuple[str, str], npt.NDArray[np.float64]] = {}
    for video in real.videos:
        if video.id not in real.subtitles or video.key not in real.annotations:
            continue
        said = [(stem(word.text.lower().strip(".,?!")), word.start_s) for word in real.subtitles[video.id].words]
        names = [[stem(w) for w in step.split()[1:] if w not in JOINING] for step in real.task_of(video).steps]
        for object_ in {word for name in names for word in name}:
            spans = [part.interval for part in real.annotations[video.key] if object_ in names[part.step]]
            for word, at in said if spans else ():
                away = min(max(0.0, span.start_s - at, at - span.end_s) for span in spans)
                table = counts.setdefault((video.task, object_), np.zeros((2, len(EDGES_S) + 1)))
                table[:, np.digitize(away, EDGES_S)] += (word == object_, 1)
    rates = [(said / np.maximum(words, 1) / (said.sum() / words.sum()))[1:] for said, words in counts.values() if said.sum() > 30]
    names = ["in use", *(f"from {a:.0f} s" for a in EDGES_S[1:])]
    return {name: round(fmean(float(rate[i]) for rate in rates), 3) for i, name in enumerate(names)}


def appearance_table(breakfast: Corpus) -> dict[str, dict[str, float]]:
    """Similarity of steps in the features of Breakfast, and in synthetic features on its timelines."""
    steps = {task.id: task.steps for task in breakfast.tasks.values()}
    tasks = {task.id: appearance_of_task(task.id, task.steps, 0) for task in breakfast.tasks.values()}
    default = DIFFICULTIES["default"]
    projection = draw_projection(COLUMNS, default, 0)

    def real(video: Video) -> npt.NDArray[np.floating]:
        return breakfast.features.rows(video.id)[:, :MOTION_COLUMNS]

    def synthetic(video: Video) -> npt.NDArray[np.floating]:
        rng, truth = generator(0, "breakfast", video.id), breakfast.annotations[video.key]
        latents = draw_latents(tasks[video.task], truth, breakfast.n_segments(video), default, rng)
        return draw_features(latents, projection, rng)[:, :MOTION_COLUMNS]

    sources = {"real": real, "synthetic": synthetic}
    return {name: appearance_statistics(centred_videos(breakfast, features), steps) for name, features in sources.items()}


def window_table(real: Corpus | None) -> dict[str, dict[str, float]]:
    """Position of windows relative to their steps, on the synthetic corpus and, if given, on the transcribed videos of the release."""
    table = {name: window_statistics(real, windows) for name, windows in real_windows(real).items()} if real else {}
    synthetic = generate_without_features(ONLY_PRIMARY, "default", SEEDS[0])
    return table | {"synthetic": window_statistics(synthetic, synthetic.windows)}


def bounds() -> dict[str, list[float]]:
    """Recall of Uniform and of full supervision by seed; related tasks matter to neither."""
    found: dict[str, list[float]] = {"uniform": [], "supervised": []}
    for seed in SEEDS:
        corpus = generate_corpus(ONLY_PRIMARY, "default", seed, N_DIMENSIONS)
        split = paper_split(corpus, np.random.default_rng([seed, 0]), SHAPE.train_videos_per_task)
        for name, method in (("uniform", Uniform()), ("supervised", Supervised("component", SETTINGS))):
            found[name].append(round(fmean(recall_of(corpus, method, split.train, split.test, seed).values()), 4))
    return found


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("--skip-real-windows", action="store_true", help="leave out the windows that need the sentence encoder")
    arguments = parser.parse_args()
    real = open_corpus(data_folder() / "crosstask")
    lists = {"release": real, "synthetic": generate_without_features(STEP_LISTS, "default")}
    result = {
        "what": "the synthetic corpus and what it was calibrated against; no weakly supervised method takes part",
        "command": f"CROSSTASK_DATA=DATA python -m benchmarks.synthetic.calibration --out results/{arguments.out.name}"
        f"{' --skip-real-windows' if arguments.skip_real_windows else ''}",
        "seeds": list(SEEDS),
        "step_lists": {
            name: {statistic: round(value, 4) for statistic, value in sharing_of(list(corpus.tasks.values())).items()}
            for name, corpus in lists.items()
        },
        "windows": window_table(None if arguments.skip_real_windows else real),
        "mentions_of_objects": mentions_of_objects(real),
        "appearance": appearance_table(open_corpus(data_folder() / "breakfast")),
        "bounds": bounds(),
        "bounds_in_the_paper": {"uniform": 0.097, "supervised": 0.316},
        "shape": asdict(SHAPE),
        "n_dimensions": N_DIMENSIONS,
        "difficulties": {name: asdict(difficulty) for name, difficulty in DIFFICULTIES.items()},
    }
    write_json(arguments.out, result)


if __name__ == "__main__":
    main()
