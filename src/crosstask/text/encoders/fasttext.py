"""100-dimensional fastText word vectors trained on the user's subtitles, as in the paper. Extra: fasttext."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from crosstask.records import InputError, MissingExtra
from crosstask.text.encoders.word_vectors import WordVectors
from crosstask.text.stems import words_of_text

DIMENSION = 100  # supplement, section "Temporal text localization"
_MIN_WORDS = 1000  # ours: fewer words give no useful vectors


def train_word_vectors(documents: Sequence[str], epochs: int = 5, min_count: int = 3) -> WordVectors:
    """(V, 100) vectors of the words that occur at least `min_count` times; trained in one thread, so reproducible."""
    try:
        import fasttext
    except ImportError as error:
        raise MissingExtra("training word vectors", "fasttext") from error
    lines = [" ".join(words_of_text(document)) for document in documents]
    if sum(line.count(" ") + 1 for line in lines if line) < _MIN_WORDS:
        raise InputError("too little text for word vectors; expected subtitles of at least 1000 words")
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "documents.txt"
        corpus.write_text("\n".join(lines) + "\n", encoding="utf-8")
        model = fasttext.train_unsupervised(
            str(corpus), model="skipgram", dim=DIMENSION, epoch=epochs, minCount=min_count, thread=1, verbose=0
        )
    words = sorted(word for word in model.get_words() if word != "</s>")
    return WordVectors(tuple(words), np.stack([model.get_word_vector(word) for word in words]).astype(np.float32))
