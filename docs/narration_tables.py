"""Tables of the page on narration, made from results/*.json: quality of windows, what each part contributes, encoders, speech as features."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from detailed_tables import interval, table
from tables import percent, recorded

SHELVES, TOAST = "59684", "76400"  # Build Simple Floating Shelves, Make French Toast
QUALITY = {"precision": "precision", "recall": "recall", "hit_rate": "midpoint hits"}
REMOVED = {  # setting of narration-windows -> words
    "best": "nothing",
    "without TF-IDF beside it": "TF-IDF beside the encoder",
    "without its own word vectors": "word vectors of the collection",
    "without prototypes": "prototypes",
    "without positions": "positions",
    "without absence": "absence",
    "ordered marginals alone": "the half without the order constraint",
    "without lag": "the lag of 1.5 s",
}
WORD_VECTORS = {  # of narration-encoders -> words
    "glove-100d": "GloVe, 100-d",
    "fasttext-100d of these subtitles and articles": "fastText, 100-d, of these subtitles and the articles",
}
WINDOW_WORDS = 10  # of the rows that are shown
SPEECH_WINDOWS = {  # of speech-features -> words
    "none": "none",
    "first epochs only": "paper's, in the initial epochs only",
    "paper": "paper's",
    "best": "default",
}


def windows_table() -> str:
    """Quality of windows from real subtitles, by method and encoder."""
    header = ["method, encoder", "precision", "recall", "IoU", "midpoint hits", "outside"]
    rows = []
    for row in sorted(
        recorded("narration-windows")["rows"], key=lambda row: (row["recipe"] == "best", row["encoder"] != "tfidf")
    ):
        name = f"**{row['recipe']}**" if row["recipe"] == "best" else row["recipe"]
        values = [percent(row[measure]) for measure in ("precision", "recall", "iou", "hit_rate", "outside")]
        rows.append([f"{name}, `{row['encoder']}`", *values])
    return table(header, rows)


def transferred_settings() -> str:
    """What settings chosen on one task give on the other, as a sentence."""
    grid = recorded("narration-grid")
    judged = [value["figures"] for name, value in grid.items() if name.startswith("chosen on")]
    means = " / ".join(percent(float(np.mean([figures[measure] for figures in judged]))) for measure in QUALITY)
    return (
        "Only temperature, absence, lag and weight of the order were chosen on one task and scored on the other "
        f"(`results/narration-grid.json`, {grid['points']} settings): {means} ({' / '.join(QUALITY.values())}) on average."
    )


def parts_table() -> str:
    """Quality of the default windows with each part removed."""
    rows = [
        [REMOVED[part["setting"]], *(percent(part[measure]) for measure in QUALITY)]
        for part in recorded("narration-windows")["parts"]
    ]
    return table(["removed", *QUALITY.values()], rows)


def encoders_table() -> str:
    """Precision and recall of the paper's windows by encoder and word vectors, and how many held-out triplets the encoders satisfy."""
    data = recorded("narration-encoders")
    shown = [row for row in data["rows"] if row["window_words"] == WINDOW_WORDS]
    rows = []
    for vectors, words in WORD_VECTORS.items():
        of_encoder = [
            [row for row in shown if row["encoder"] == encoder and row.get("word_vectors", vectors) == vectors]
            for encoder in ("max-pooled", "tfidf", "learned")
        ]
        rows.append([words, *(_precision_and_recall(of) for of in of_encoder)])
    satisfied = [row["training"]["held_out_triplets_satisfied"][-1] for row in shown if row["encoder"] == "learned"]
    before = data["triplets_satisfied_without_training"]
    sentence = (
        f"Held-out triplets satisfied by the learned encoders: {100 * min(satisfied):.0f} to {100 * max(satisfied):.0f} %. "
        f"For comparison, on {before['pages']} of these pages max-pooled GloVe satisfies {100 * before['max-pooled glove-100d']:.0f} %, "
        f"TF-IDF {100 * before['tfidf of the articles']:.0f} %, MiniLM {100 * before['sentence']:.0f} %."
    )
    return "\n".join([table(["word vectors", "max-pooled", "TF-IDF", "learned"], rows), "", sentence])


def _precision_and_recall(rows: Sequence[Mapping[str, Any]]) -> str:
    return " / ".join(percent(float(np.mean([row[measure] for row in rows]))) for measure in ("precision", "recall"))


def speech_table() -> str:
    """Recall with speech as features by kind of window, and the published code on the same features, windows and splits."""
    summary = recorded("speech-features")["summary"]
    rows = [
        [words, percent(summary[windows][SHELVES]["mean"]), percent(summary[windows][TOAST]["mean"])]
        for windows, words in SPEECH_WINDOWS.items()
    ]
    compared = recorded("speech-published-code")["rows"]
    published = {
        windows: " / ".join(percent(float(np.mean(of[task]["published"]))) for task in (SHELVES, TOAST))
        for windows, of in compared.items()
    }
    differences = {windows: interval(of["mean"]["ours - published"]) for windows, of in compared.items()}
    sentences = (
        f"The published code on the same features, windows and splits (`results/speech-published-code.json`): {published['paper']} "
        f"with the windows, {published['first epochs only']} with its weight of windows set to 0 (its first random labels then still lie "
        f"inside the windows), {published['none']} without any window. Ours minus published in points, mean of the two tasks: with windows "
        f"{differences['paper']}, in the initial epochs only {differences['first epochs only']}, without {differences['none']}."
    )
    return "\n".join([table(["windows", "Shelves", "Toast"], rows), "", sentences])
