"""Is `run` ever worse than even spacing on narrated films? Recall with 0 to 16 training videos a task, on films with layouts of their own.

    python -m benchmarks.synthetic.spoken_films FOLDER --seeds 0 1 2 --out results/synthetic-spoken-films.json

Synthetic films of `crosstask demo` with subtitles of what their narrator says, light features, and windows from the subtitles of the training
videos. A seed draws films, layouts and scripts anew; 4 films a task are tested. With no training video, the steps come from the subtitles
of each film alone. Intervals are over the tasks of all seeds. FOLDER keeps the films.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.real_data.accuracy import difference
from benchmarks.scripts import arguments_of, write_result
from benchmarks.synthetic.image_text import TEST_VIDEOS, VIDEOS, films, first_videos

from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.order_only import Uniform
from crosstask.metrics.recall import StepRecall
from crosstask.metrics.truth import true_segments
from crosstask.model.localize_video import localize_by_mentions, localize_evenly
from crosstask.narration.joint_decoding import fit_joint_decoder
from crosstask.narration.narrate import narrate_best, transcripts, usable_videos
from crosstask.records import Corpus, Video
from crosstask.text.encoders.choice import installed_sentence_encoder
from crosstask.text.encoders.tfidf import fit_tfidf

NUMBERS = (0, 1, 2, 4, 8, 16)


def by_subtitles_alone(corpus: Corpus, tested: list[Video]) -> dict[str, float]:
    """Recall by task without any model, as `localize` does it for one video."""
    recall = StepRecall()
    for video in tested:
        task, n_segments = corpus.task_of(video), corpus.n_segments(video)
        found = localize_by_mentions(task, corpus.subtitles[video.id], n_segments, video.id)
        found = found or localize_evenly(task, n_segments, video.id)
        recall.add(video.task, np.array([int(step.moment_s) for step in found.steps]), true_segments(corpus, video))
    return recall.by_task()


def with_windows(corpus: Corpus) -> Corpus:
    """The corpus with windows from its subtitles."""
    usable, _ = usable_videos(corpus, corpus.videos)
    encoder = installed_sentence_encoder() or fit_tfidf(transcripts(usable))
    return replace(corpus, windows=narrate_best(corpus, usable, encoder).windows)


def recalls(corpus: Corpus, tested: list[Video], number: int) -> dict[str, dict[str, float]]:
    """Arm -> task -> recall on the test videos."""
    found = {"uniform": evaluate_videos(corpus, Uniform(), tested).by_metric["recall"]}
    if number == 0:
        return found | {"subtitles alone": by_subtitles_alone(corpus, tested)}
    train = corpus.only(first_videos(corpus, {str(video.key) for video in tested}, number))
    by_order = HiddenMarkovModel().fit(train.without_windows(), np.random.default_rng(0))
    by_windows = HiddenMarkovModel().fit(with_windows(train), np.random.default_rng(0))
    joint = fit_joint_decoder(by_windows, corpus, tested)
    return found | {
        "order alone": evaluate_videos(corpus, by_order, tested).by_metric["recall"],
        "windows": evaluate_videos(corpus, by_windows, tested).by_metric["recall"],
        "windows, decoded with narration": evaluate_videos(corpus, by_windows, tested, joint=joint).by_metric["recall"],
    }


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    arguments = parser.parse_args()
    found: dict[int, dict[str, dict[str, float]]] = {number: {} for number in NUMBERS}
    for seed in arguments.seeds:
        corpus, keys = films(arguments.folder / f"seed-{seed}", seed, VIDEOS, TEST_VIDEOS)
        tested = [video for video in corpus.videos if str(video.key) in keys]
        for number in NUMBERS:
            for arm, by_task in recalls(corpus, tested, number).items():
                found[number].setdefault(arm, {}).update({f"{task}, seed {seed}": value for task, value in by_task.items()})
            print(
                seed, number, {arm: round(float(np.mean(list(of.values()))), 3) for arm, of in found[number].items()}, flush=True
            )
    result = {}
    for number, arms in found.items():
        nested = {arm: {"": {"recall": of}} for arm, of in arms.items()}
        result[str(number)] = {
            "recall": {arm: 100 * float(np.mean(list(of.values()))) for arm, of in arms.items()},
            "less uniform": {arm: difference(of, nested["uniform"], [""]) for arm, of in nested.items() if arm != "uniform"},
        }
    seeds = " ".join(map(str, arguments.seeds))
    write_result(
        arguments.out,
        {
            "what": "step recall in %, mean over tasks and seeds, by number of training videos a task; synthetic films with subtitles",
            "command": f"python -m benchmarks.synthetic.spoken_films FOLDER --seeds {seeds} --out results/synthetic-spoken-films.json",
            "synthetic": True,
            "seeds": arguments.seeds,
            "videos": result,
        },
    )


if __name__ == "__main__":
    main()
