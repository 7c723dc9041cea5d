"""How well the confidence of found steps is calibrated on people and channels that were not trained on. Writes JSON.

python -m benchmarks.real_data.confidence DATA --out results/confidence.json

Corpora: Breakfast and captaincook (real features, simulated windows; held-out people), vlogs (real features, real times of narration; held-out
channels). Groups are divided into two halves. The two parameters of a kind of confidence are fitted on the development half of all corpora but one
and scored on the final half of that one; what the package contains is fitted on the development half of all three. `--fit` prints these
parameters. The confidence of joint decoding has no parameters of its own; those of P(features right) are the package's there.

A step that the video shows counts: is its moment in the step? For `shown`, every step counts. ECE: mean absolute difference of confidence and
share of hits over ten bins of equal mass. After 30 corrections: confidence is recalibrated to 30 steps drawn at random, as `crosstask.pipeline` does
after a review, and scored on the others; mean of 20 draws. Bounds of what can be reached: ECE of Platt scaling fitted to the scored steps themselves, and
the ECE that as many steps have by chance when their confidence is exactly right.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks.scripts import arguments_of, write_result
from scipy.optimize import minimize
from sklearn.metrics import log_loss, precision_recall_curve, roc_auc_score

from crosstask import open_corpus
from crosstask.evaluation.splits import Split, group_of
from crosstask.features.packed_corpus import with_packed_features
from crosstask.inference import decode_scores, decoder_of
from crosstask.inference.confidence import Calibration, ConfidenceInputs, calibrated, fit_calibration, hit_probability
from crosstask.inference.intervals import step_posterior
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.metrics.truth import true_segments
from crosstask.model.localization import video_scores
from crosstask.narration.joint_decoding import fit_joint_decoder
from crosstask.records import Corpus

DEVELOPMENT = {"captaincook": ("P1", "P2", "P7"), "vlogs": ("C1", "C2", "C5", "C10")}  # Breakfast: every second person
KINDS = ("features", "joint", "zhukov19")
N_BINS, N_CORRECTIONS, N_DRAWS = 10, 30, 20
MIN_PRECISION = 0.5  # of steps called absent
IDENTITY = Calibration(1.0, 0.0)


def halves(corpus: Corpus, name: str) -> dict[str, list[str]]:
    """Groups of the development half and of the final one."""
    groups = sorted({group_of(video) for video in corpus.videos})
    development = [g for g in groups if g in DEVELOPMENT[name]] if name in DEVELOPMENT else groups[::2]
    return {"development": development, "final": [g for g in groups if g not in development]}


def splits(corpus: Corpus, name: str, half: str) -> Iterator[Split]:
    """Breakfast: ten people of the half are tested, 30 videos a task trained; else each group of the half in turn."""
    groups = halves(corpus, name)[half]
    for tested in [groups[:10]] if name == "breakfast" else [[group] for group in groups]:
        train = [v for v in corpus.videos if group_of(v) not in tested]
        if name == "breakfast":
            rng = np.random.default_rng(0)
            of_task = {t: [v for v in train if v.task == t] for t in corpus.tasks}
            train = [of[i] for of in of_task.values() for i in rng.permutation(len(of))[:30]]
        kept = set(train)
        yield Split(tuple(v for v in corpus.videos if v in kept), tuple(v for v in corpus.videos if group_of(v) in tested))


def collect(corpus: Corpus, name: str, half: str) -> dict[str, np.ndarray]:
    """By kind (n, 4): posterior at the moment, hit, posterior of order alone, informativeness; by "shown": posterior of being shown, shown."""
    rows: dict[str, list[tuple[float, ...]]] = {kind: [] for kind in (*KINDS, "shown")}
    for split in splits(corpus, name, half):
        train = corpus.only_tasks({v.task for v in split.train}).only(split.train)
        model = HiddenMarkovModel().fit(train, np.random.default_rng(0))
        scorers = {"features": model, "zhukov19": Zhukov19().fit(train, np.random.default_rng(0))}
        joint = fit_joint_decoder(model, corpus, split.test)
        for video in split.test:
            task, features = corpus.task_of(video), corpus.features.rows(video.id)
            if len(features) < len(task.steps):
                continue
            truth = true_segments(corpus, video)
            for kind, scorer in scorers.items():
                scored_video = video_scores(scorer, task, features)
                posterior, _ = step_posterior(scored_video.scores)
                inputs = scored_video.confidence or ConfidenceInputs(np.zeros_like(posterior), 1.0)
                add_hits(rows[kind], posterior, decode_scores(scored_video.scores, decoder_of(scorer)), truth, inputs)
                if kind == "features" and scored_video.p_shown is not None:
                    rows["shown"] += [(float(p), bool(truth[:, k].any()), 0, 1) for k, p in enumerate(scored_video.p_shown)]
            found = joint.scores(video, task, features)
            if found is not None:
                no_inputs = ConfidenceInputs(np.zeros_like(found.hits), 1.0)
                add_hits(rows["joint"], found.hits, decode_scores(found.scores, decoder_of(model)), truth, no_inputs)
    return {kind: np.array(of_kind, dtype=np.float64).reshape(-1, 4) for kind, of_kind in rows.items()}


def add_hits(
    rows: list[tuple[float, ...]], posterior: np.ndarray, moments: np.ndarray, truth: np.ndarray, inputs: ConfidenceInputs
) -> None:
    """Posterior at the moment, whether the moment is in the step, and what else confidence needs, of each step that the video shows."""
    for k, t in enumerate(moments):
        if truth[:, k].any():
            rows.append((float(posterior[t, k]), bool(truth[t, k]), float(inputs.by_order[t, k]), inputs.informativeness))


def scored(confidence: np.ndarray, hits: np.ndarray) -> dict[str, float | None]:
    """Brier score beside that of the base rate, AUROC, and expected calibration error over bins of equal mass."""
    bins = np.array_split(np.argsort(confidence, kind="stable"), N_BINS)
    error = sum(len(b) * abs(confidence[b].mean() - hits[b].mean()) for b in bins if len(b)) / len(hits)
    return {
        "n": len(hits),
        "hits": float(hits.mean()),
        "brier": float(((confidence - hits) ** 2).mean()),
        "brier of the base rate": float(hits.mean() * (1 - hits.mean())),
        "auroc": float(roc_auc_score(hits, confidence)) if 0 < hits.mean() < 1 else None,
        "ece": float(error),
    }


def absence(p_shown: np.ndarray, shown: np.ndarray) -> dict[str, float | None]:
    """Of steps that are not shown, found by a small P(shown): AUROC, and the largest share found while at least half of those found are absent."""
    if shown.all():
        return {"absent": 0.0, "auroc": None, "recall at precision 0.5": None}
    precision, recall, _ = precision_recall_curve(1 - shown, 1 - p_shown)
    return {
        "absent": float(1 - shown.mean()),
        "auroc": float(roc_auc_score(1 - shown, 1 - p_shown)),
        "recall at precision 0.5": float(recall[precision >= MIN_PRECISION].max()),
    }


def after_corrections(confidence: np.ndarray, hits: np.ndarray) -> dict[str, float]:
    """Mean ECE and Brier score when 30 steps are corrected and the others scored."""
    found = []
    for draw in range(N_DRAWS):
        order = np.random.default_rng(draw).permutation(len(hits))
        corrected, rest = order[:N_CORRECTIONS], order[N_CORRECTIONS:]
        calibration = fit_calibration(confidence[corrected], hits[corrected], IDENTITY)
        found.append(scored(calibrated(confidence[rest], calibration), hits[rest]))
    return {metric: float(np.mean([one[metric] for one in found])) for metric in ("brier", "ece")}


def bounds(confidence: np.ndarray, hits: np.ndarray) -> dict[str, float]:
    """ECE with Platt scaling fitted to these steps, and its mean over hits drawn with exactly that confidence."""
    best = calibrated(confidence, fit_calibration(confidence, hits))
    drawn = [np.random.default_rng(draw).random(len(hits)) < best for draw in range(N_DRAWS)]
    by_chance = np.mean([scored(best, one.astype(np.float64))["ece"] for one in drawn])
    return {"ece of Platt scaling of its own": float(scored(best, hits)["ece"] or 0.0), "ece by chance": float(by_chance)}


def confidence_of(rows: np.ndarray, calibration: Calibration) -> np.ndarray:
    """(n,) confidence of collected rows: `hit_probability`, which is Platt scaling where order alone counts 0 and informativeness is 1."""
    return hit_probability(rows[:, 0], rows[:, 2], rows[:, 3], calibration)


def fitted(of_corpora: list[np.ndarray]) -> Calibration:
    """The parameters of largest likelihood, with equal weight for every corpus."""

    def loss(parameters: np.ndarray) -> float:
        found = (np.clip(confidence_of(rows, Calibration(*parameters)), 1e-6, 1 - 1e-6) for rows in of_corpora)
        return float(sum(log_loss(rows[:, 1], p, labels=[0, 1]) for rows, p in zip(of_corpora, found, strict=True)))

    slope, intercept = minimize(loss, np.array([0.3, -0.5]), method="Nelder-Mead").x
    return Calibration(max(float(slope), 0.0), float(intercept))


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--fit", action="store_true", help="print the parameters fitted on the development half, write nothing")
    arguments = parser.parse_args()
    names = ("breakfast", "captaincook", "vlogs")
    corpora = {name: with_packed_features(open_corpus(arguments.data / name)) for name in names}
    development = {name: collect(corpora[name], name, "development") for name in names}
    if arguments.fit:
        for kind in (*KINDS, "shown"):
            print(kind, fitted([of[kind] for of in development.values()]), flush=True)
            for name in names:
                print("  without", name, fitted([of[kind] for other, of in development.items() if other != name]))
        return
    result: dict = {}
    for name in names:
        final = collect(corpora[name], name, "final")
        for kind in (*KINDS, "shown"):
            rows = final[kind]
            without = fitted([of[kind] for other, of in development.items() if other != name])
            confidence, hits = rows[:, 0] if kind == "joint" else confidence_of(rows, without), rows[:, 1]
            result.setdefault(name, {})[kind] = {
                "calibration of the other corpora": scored(confidence, hits),
                **({} if kind == "joint" else {"parameters": [without.slope, without.intercept]}),
                "after 30 corrections": after_corrections(confidence, hits),
                "bounds": bounds(confidence, hits),
                **({"absence": absence(rows[:, 0], hits)} if kind == "shown" else {}),
            }
            print(name, kind, result[name][kind], flush=True)
    write_result(
        arguments.out,
        {
            "what": "calibration of confidence on held-out people and channels; leave-one-corpus-out; windows of Breakfast and captaincook are simulated",
            "command": "python -m benchmarks.real_data.confidence DATA --out results/confidence.json",
            "seeds": [0],
            "corpora": result,
        },
    )


if __name__ == "__main__":
    main()
