from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from crosstask.features import FeaturesInMemory
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.supervised import Supervised
from tiny import tiny_corpus


def test_supervised_equals_an_independent_multinomial_fit():
    """Per task, without sharing or dropout, on overlapping classes: the same probabilities as scikit-learn's unregularised fit."""
    corpus = tiny_corpus(videos_per_task=8, n_segments=30)
    rng = np.random.default_rng(3)
    noisy = {v.id: corpus.features.rows(v.id) + 2.5 * rng.standard_normal((30, 6)).astype(np.float32) for v in corpus.videos}
    corpus = replace(corpus, features=FeaturesInMemory(noisy))
    task = corpus.tasks["1"]
    settings = AlternationSettings(learning_rate=3e-3, dropout=0.0, initial_epochs=0, epochs=1500, per_segment=True)
    scorer = Supervised("none", settings).fit(corpus.only_tasks({"1"}), np.random.default_rng(0))
    rows, labels = [], []
    for video in corpus.videos_of("1"):
        for annotated in corpus.annotations[video.key]:
            for t in annotated.interval.segments(30):
                rows.append(corpus.features.rows(video.id)[t])
                labels.append(annotated.step)
    independent = LogisticRegression(C=1e6, max_iter=5000).fit(np.array(rows), labels)
    ours = scorer.score(task, np.array(rows))
    theirs = independent.predict_log_proba(np.array(rows))
    chosen = np.arange(len(labels)), np.array(labels)
    assert -ours[chosen].mean() == pytest.approx(-theirs[chosen].mean(), abs=0.01)
    assert np.mean(ours.argmax(axis=1) == theirs.argmax(axis=1)) > 0.97
