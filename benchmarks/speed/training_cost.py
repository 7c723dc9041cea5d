"""CPU seconds of one training by either method on one core, synthetic videos of about 300 s. Run by `training.py --measure cost`."""

from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.synthetic import Shape, generate_corpus

SIZES = {"180 videos, D = 512": (12, 15, 512), "180 videos, D = 3200": (12, 15, 3200), "630 videos, D = 3200": (18, 35, 3200)}


def cpu_seconds(method, corpus) -> float:
    """CPU seconds of one training."""
    begun = process_time()
    method.fit(corpus, np.random.default_rng(0))
    return process_time() - begun


def cost() -> dict:
    """CPU seconds of both methods at three sizes."""
    rows = {}
    with threadpool_limits(limits=1):
        for name, (n_tasks, n_videos, n_dimensions) in SIZES.items():
            shape = Shape("cost", n_tasks, 0, n_videos, 0, 0, 0, 5.7, 0.05, 0.15)
            corpus = generate_corpus(shape, "clear", 0, n_dimensions)
            Zhukov19(settings=AlternationSettings(initial_epochs=1, epochs=1)).fit(corpus, np.random.default_rng(0))  # compile
            paper, best = cpu_seconds(Zhukov19(), corpus), cpu_seconds(HiddenMarkovModel(), corpus)
            rows[name] = {"tasks": n_tasks, "paper_s": paper, "best_s": best, "ratio": best / paper}
            print(name, rows[name], flush=True)
    return {
        "what": "CPU seconds of one training on one core; paper: 30 + 30 epochs with windows, best: 10 rounds",
        "rows": rows,
    }
