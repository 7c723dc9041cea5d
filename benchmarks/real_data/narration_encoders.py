"""The paper's comparison of text encoders on real speech; every training of an encoder is a row. Run by `narration.py`."""

from pathlib import Path

import numpy as np
from benchmarks.scripts import data_folder

from crosstask.datasets import open_corpus
from crosstask.metrics.windows import score_windows
from crosstask.narration.narrate import narrate_paper, transcripts, usable_videos
from crosstask.narration.paper import PaperSettings
from crosstask.storage import write_json
from crosstask.text.encoders import open_encoder
from crosstask.text.encoders.articles import read_articles
from crosstask.text.encoders.fasttext import train_word_vectors
from crosstask.text.encoders.tfidf import fit_tfidf
from crosstask.text.encoders.training import TrainingSettings, train_encoder
from crosstask.text.encoders.word_vectors import MaxPooled, read_word_vectors

WINDOW_WORDS = (5, 10, 20)
SEEDS = (0, 1, 2)


def share_satisfied(encoder, pages) -> float:
    """Triplets (sentence, one of its paragraph, one of another) that an encoder puts in the right order, over some pages."""
    right, total = 0.0, 0
    for page in pages:
        sentences = [(p, s) for p, group in enumerate(page.paragraphs) for s in group]
        if not sentences:
            continue
        paragraph = np.array([p for p, _ in sentences])
        vectors = encoder.encode([s for _, s in sentences])
        C = vectors @ vectors.T
        same = (paragraph[:, None] == paragraph) & ~np.eye(len(C), dtype=bool)
        triplet = same[:, :, None] & (paragraph[:, None] != paragraph)[:, None, :]
        nearer = (C[:, :, None] > C[:, None, :]) + 0.5 * (C[:, :, None] == C[:, None, :])
        right, total = right + float((nearer * triplet).sum()), total + int(triplet.sum())
    return right / total


def encoders(folder: Path) -> None:
    """Write narration-encoders.json to the folder after every row."""
    out = folder / "narration-encoders.json"
    data = data_folder()
    corpus = open_corpus(data / "crosstask")
    judged = [v for v in corpus.videos if v.id in corpus.subtitles and v.key in corpus.annotations]
    videos, _ = usable_videos(corpus, judged)
    rows: list[dict] = []
    command = "CROSSTASK_DATA=DATA python -m benchmarks.real_data.narration encoders --out results"
    pages = read_articles(data / "wikihow" / "articles.json")
    prose = [" ".join(s for group in page.paragraphs for s in group) for page in pages]
    some = [pages[i] for i in np.random.default_rng(0).permutation(len(pages))[:60]]
    glove = read_word_vectors(data / "word_vectors" / "glove-100d.npy")
    references = {
        "pages": len(some),
        "tfidf of the articles": share_satisfied(fit_tfidf(prose), some),
        "max-pooled glove-100d": share_satisfied(MaxPooled(glove), some),
        "sentence": share_satisfied(open_encoder("sentence"), some),
    }

    def judge(judged_encoder, **about) -> None:
        for words in WINDOW_WORDS:
            found = narrate_paper(corpus, videos, judged_encoder, PaperSettings(window_words=words))
            rows.append({**about, "window_words": words, **score_windows(corpus, judged, found.windows).to_json()})
            print(about, words, round(rows[-1]["precision"], 4), round(rows[-1]["recall"], 4), flush=True)
            write_json(out, {"command": command, "triplets_satisfied_without_training": references, "rows": rows})

    said = transcripts(videos)
    judge(fit_tfidf(said), encoder="tfidf")
    tables = {
        "glove-100d": glove,
        "fasttext-100d of these subtitles and articles": train_word_vectors([*said, *prose], epochs=10, min_count=2),
    }
    for name, table in tables.items():
        judge(MaxPooled(table), encoder="max-pooled", word_vectors=name)
        for seed in SEEDS:
            settings = TrainingSettings()
            encoder, report = train_encoder(pages, table, np.random.default_rng(seed), settings)
            judge(encoder, encoder="learned", word_vectors=name, seed=seed, training=report.to_json())
