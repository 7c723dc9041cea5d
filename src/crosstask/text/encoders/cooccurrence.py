"""Word vectors from co-occurrence counts: positive pointwise mutual information, factorised by a truncated SVD.

    PPMI[a, b] = max(0, log n(a, b) sum_c n(c)^0.75 / (n(a) n(b)^0.75)),    vectors = U sqrt(s), largest singular values

n(a, b) counts pairs within `window` words of each other. Suited to small collections, and needs no extra package.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from crosstask.records import InputError
from crosstask.storage import single_thread
from crosstask.text.encoders.word_vectors import WordVectors
from crosstask.text.stems import words_of_text

DIMENSION = 100  # supplement: the paper's word vectors have 100 dimensions
_MIN_WORDS = 20  # ours: size of the smallest useful vocabulary
_CONTEXT_EXPONENT = 0.75  # Levy et al. (2015), context distribution smoothing


def cooccurrence_vectors(documents: Sequence[str], min_count: int = 2, window: int = 5) -> WordVectors:
    """(V, 100) vectors of the words that occur at least `min_count` times; fewer dimensions for fewer words."""
    from scipy.sparse import coo_array, diags_array
    from scipy.sparse.linalg import svds

    texts = [words_of_text(document) for document in documents]
    counts = Counter(word for text in texts for word in text)
    words = sorted(word for word, n in counts.items() if n >= min_count)
    if len(words) < _MIN_WORDS:
        raise InputError(f"{len(words)} different words are too few for word vectors; expected some pages of text")
    number = {word: i for i, word in enumerate(words)}
    lines = [np.array([number[word] for word in text if word in number], dtype=np.int64) for text in texts]
    pairs = [(line[:-gap], line[gap:]) for line in lines for gap in range(1, window + 1) if len(line) > gap]
    left, right = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    both = (np.concatenate([left, right]), np.concatenate([right, left]))
    near = coo_array((np.ones(len(both[0])), both), shape=(len(words), len(words))).tocsr()
    total = near.sum(axis=1)
    context = total**_CONTEXT_EXPONENT  # corrects the bias of PMI towards rare words
    ratio = diags_array(1 / np.maximum(total, 1)) @ near @ diags_array(context.sum() / np.maximum(context, 1))
    ratio.data = np.maximum(np.log(ratio.data), 0)
    k = min(DIMENSION, len(words) - 2)
    with single_thread():
        u, s, _ = svds(ratio.tocsc(), k=k, v0=np.full(len(words), 1 / np.sqrt(len(words))))
    signs = np.sign(u[np.abs(u).argmax(axis=0), np.arange(k)])  # the sign of a singular vector is arbitrary
    return WordVectors(tuple(words), (u * signs * np.sqrt(s)).astype(np.float32))
