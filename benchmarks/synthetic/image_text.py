"""Recall by image-text features on rendered films: with no video, and with 1, 4 and 16 videos a task.

    python -m benchmarks.synthetic.image_text FOLDER --seeds 0 1 2 3 4 --out results/synthetic-image-text.json

Synthetic films and a SYNTHETIC image-text model: no trained CLIP or SigLIP is used. Its image side is a linear map of light features into 64
dimensions, its text side one vector for each step name; both are fitted on annotated films rendered separately, with another seed, which are used
for nothing else. So its text side truly matches what the films show; `noisy` adds Gaussian noise twice as long as the vector to every
text vector. A seed draws films, layouts and noise anew; 4 films a task with layouts of their own are tested. No narration is used.
The one constant of the text side, TEXT_SEPARATION, was chosen on the films of seed 0. FOLDER keeps the films.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from benchmarks.scripts import arguments_of, paired_points, write_result

from crosstask.datasets import open_corpus
from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.extraction.feature_spec import parse_feature_spec
from crosstask.features import FeaturesInMemory
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.order_only import Uniform
from crosstask.methods.protocols import Scorer
from crosstask.methods.zero_shot import ZeroShot
from crosstask.metrics.recall import mean_over_tasks
from crosstask.pipeline.extract import extract_corpus
from crosstask.records import Corpus, TextSide, Video
from crosstask.synthetic.films.corpus import render_corpus

MODEL_SEED, MODEL_VIDEOS = 1000, 8  # of the films that the image-text model is fitted on; videos a task
VIDEOS, TEST_VIDEOS = 20, 4  # a task
COUNTS = (1, 4, 16)  # training videos a task
WIDTH, RIDGE = 64, 0.1  # dimensions of the common space; share of the within-class covariance replaced by the identity
NOISES = {"matching": 0.0, "noisy": 2.0}  # length of the noise on a text vector of length one


@dataclass(frozen=True)
class ImageText:
    """A synthetic image-text model: rows of light features -> unit rows, and unit vectors by step name."""

    image: Callable[[np.ndarray], np.ndarray]
    text: dict[str, np.ndarray]


def films(folder: Path, seed: int, videos: int, tested: int) -> tuple[Corpus, set[str]]:
    """A corpus of rendered films with light features, and the keys of its test videos."""
    keys = render_corpus(folder, seed, videos, tested)
    extract_corpus(open_corpus(folder), parse_feature_spec("light"))
    return open_corpus(folder), {str(key) for key in keys}


def labelled_rows(corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
    """All rows (N, D), and the step name at each, empty for background."""
    rows, names = [], []
    for video in corpus.videos:
        features = np.asarray(corpus.features.rows(video.id), dtype=np.float64)
        shown = np.full(len(features), "", dtype=object)
        for found in corpus.annotations[video.key]:
            inside = found.interval.segments(len(features))
            shown[inside.start : inside.stop] = corpus.task_of(video).steps[found.step]
        rows.append(features)
        names.append(shown)
    return np.concatenate(rows), np.concatenate(names)


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def fit_image_text(corpus: Corpus) -> ImageText:
    """Linear discriminant analysis of annotated films: class means and rows in a common space where classes have unit covariance."""
    rows, shown = labelled_rows(corpus)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    scaled, names = (rows - mean) / deviation, sorted(set(shown))
    means = np.stack([scaled[shown == name].mean(axis=0) for name in names])
    around = scaled - means[np.searchsorted(names, shown)]
    within = around.T @ around / len(around)
    within = (1 - RIDGE) * within + RIDGE * np.trace(within) / len(within) * np.eye(len(within))
    values, vectors = np.linalg.eigh(within)
    whitening = vectors / np.sqrt(values)
    between = means @ whitening
    projection = whitening @ np.linalg.svd(between - between.mean(axis=0), full_matrices=False)[2][:WIDTH].T
    text = unit(means @ projection)
    return ImageText(
        lambda features: unit(((np.asarray(features, dtype=np.float64) - mean) / deviation) @ projection),
        {name: text[i] for i, name in enumerate(names) if name},
    )


def with_image_text(corpus: Corpus, model: ImageText, noise: float, seed: int) -> Corpus:
    """The corpus with features and text side of the model, without narration."""
    rng = np.random.default_rng(seed)
    width = len(next(iter(model.text.values())))
    text = {name: unit(model.text[name] + noise * rng.normal(size=width) / np.sqrt(width)) for name in sorted(model.text)}
    rows = {video.id: model.image(corpus.features.rows(video.id)) for video in corpus.videos}
    side = TextSide("synthetic", 0, width, text)
    return replace(corpus, features=FeaturesInMemory(rows), feature_spec="synthetic", text_side=side, windows={})


def first_videos(corpus: Corpus, tested: set[str], count: int) -> list[Video]:
    """The first `count` training videos of each task."""
    return [v for task in corpus.tasks for v in [v for v in corpus.videos_of(task) if str(v.key) not in tested][:count]]


def recalls(corpus: Corpus, tested: set[str], seed: int) -> dict[str, float]:
    """Recall on the test videos by method."""
    judged = [video for video in corpus.videos if str(video.key) in tested]
    rng = np.random.default_rng(seed)

    def recall(scorer: Scorer) -> float:
        return mean_over_tasks(evaluate_videos(corpus, scorer, judged).by_metric["recall"])

    found = {"uniform": recall(Uniform()), "zero-shot": recall(ZeroShot().fit(corpus, rng))}
    for count in COUNTS:
        chosen = corpus.only(first_videos(corpus, tested, count))
        found[f"hmm, {count}"] = recall(HiddenMarkovModel().fit(chosen, rng))
        found[f"hmm without text side, {count}"] = recall(HiddenMarkovModel().fit(replace(chosen, text_side=None), rng))
    return found


def main():
    parser = arguments_of(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    arguments = parser.parse_args()
    model = fit_image_text(films(arguments.folder / "text", MODEL_SEED, MODEL_VIDEOS, 0)[0])
    by_noise = {name: {} for name in NOISES}
    for seed in arguments.seeds:
        corpus, tested = films(arguments.folder / f"seed-{seed}", seed, VIDEOS, TEST_VIDEOS)
        for name, noise in NOISES.items():
            by_noise[name][str(seed)] = recalls(with_image_text(corpus, model, noise, seed), tested, seed)
    summary = {}
    for name, seeds in by_noise.items():
        methods = {method: [of[method] for of in seeds.values()] for method in next(iter(seeds.values()))}
        summary[name] = {
            "recall": {method: float(np.mean(values)) for method, values in methods.items()},
            "least zero-shot": min(methods["zero-shot"]),
            "least zero-shot over uniform": min(np.array(methods["zero-shot"]) / np.array(methods["uniform"])),
            "hmm minus zero-shot, points": {
                str(count): paired_points(methods[f"hmm, {count}"], methods["zero-shot"]) for count in COUNTS
            },
            "seeds": seeds,
        }
    seeds_typed = " ".join(map(str, arguments.seeds))
    command = f"python -m benchmarks.synthetic.image_text FOLDER --seeds {seeds_typed} --out results/synthetic-image-text.json"
    write_result(arguments.out, {"command": command, "synthetic": True, "narration": False, **summary})


if __name__ == "__main__":
    main()
