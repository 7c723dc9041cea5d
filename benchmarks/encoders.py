"""The paper's ranking of encoders on real speech: windows by the plain recipe, scored; every run is a row.

Run: CROSSTASK_DATA=DATA python benchmarks/encoders.py results/narration-encoders.json
"""

import os
import sys
from pathlib import Path

import numpy as np

from crosstask.metrics.windows import score_windows
from crosstask.narration.plain import PlainSettings
from crosstask.narration.recipes import narrate_plainly, transcripts, usable_videos
from crosstask.sources import open_corpus
from crosstask.storing import write_json
from crosstask.text.encoders.articles import read_articles
from crosstask.text.encoders.fasttext import train_word_vectors
from crosstask.text.encoders.tfidf import fit_tfidf
from crosstask.text.encoders.training import TrainingSettings, train_encoder
from crosstask.text.encoders.word_vectors import MaxPooled, read_word_vectors

WINDOW_WORDS = (5, 10, 20)
SEEDS = (0, 1, 2)


def main(out: Path) -> None:
    data = Path(os.environ["CROSSTASK_DATA"])
    corpus = open_corpus(data / "crosstask")
    judged = [v for v in corpus.videos if v.id in corpus.subtitles and v.key in corpus.annotations]
    videos, _ = usable_videos(corpus, judged)
    rows: list[dict] = []

    def judge(judged_encoder, **about) -> None:
        for words in WINDOW_WORDS:
            found = narrate_plainly(corpus, videos, judged_encoder, PlainSettings(window_words=words))
            rows.append({**about, "window_words": words, **score_windows(corpus, judged, found.windows).to_json()})
            print(about, words, round(rows[-1]["precision"], 4), round(rows[-1]["recall"], 4), flush=True)
            write_json(out, {"command": "CROSSTASK_DATA=DATA python benchmarks/encoders.py " + out.as_posix(), "rows": rows})

    said = transcripts(videos)
    judge(fit_tfidf(said), encoder="tfidf")
    pages = read_articles(data / "wikihow" / "articles.json")
    prose = [" ".join(s for group in page.paragraphs for s in group) for page in pages]
    tables = {
        "glove-100d": read_word_vectors(data / "word_vectors" / "glove-100d.npy"),
        "fasttext-100d of these subtitles and articles": train_word_vectors([*said, *prose], epochs=10, min_count=2),
    }
    for name, table in tables.items():
        judge(MaxPooled(table), encoder="max-pooled", word_vectors=name)
        for seed in SEEDS:
            settings = TrainingSettings()
            encoder, report = train_encoder(pages, table, np.random.default_rng(seed), settings)
            judge(encoder, encoder="learned", word_vectors=name, seed=seed, training=report.to_json())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
