"""Alayrac'16: discriminative clustering of each task alone, under the same order and windows; scores are its linear map."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from crosstask.learning.baselines.discriminative_clustering import Diffrac, DiffracSettings, diffrac
from crosstask.learning.float16 import as_float32
from crosstask.methods.protocols import Params
from crosstask.methods.task_scorer import TaskScorer
from crosstask.methods.training_videos import training_arrays
from crosstask.records import Corpus, InputError
from crosstask.storage import single_thread
from crosstask.text import vocabulary_of

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Alayrac16(Params):
    """The visual model of Alayrac et al. (2016), given our narration windows as the paper does."""

    settings: DiffracSettings = field(default_factory=DiffracSettings)
    after_task: Callable[[Diffrac], None] = field(default=lambda found: None, compare=False, repr=False)

    @single_thread()
    def fit(self, corpus: Corpus, rng: np.random.Generator) -> TaskScorer:
        """A scorer with a linear map for every task of the corpus that has a trainable video."""
        arrays = training_arrays(corpus, vocabulary_of(corpus.tasks.values(), "none"))
        videos, weights = arrays.videos, {}
        for task in sorted({key.task for key in arrays.keys}):
            members = [i for i, key in enumerate(arrays.keys) if key.task == task]
            n_steps = len(corpus.tasks[task].steps)
            rows, allowed = [], []
            for i in members:
                first, n_segments = int(videos.first_row[i]), int(videos.n_segments[i])
                rows.append(as_float32(arrays.rows[first : first + n_segments]))
                mask = np.zeros((n_segments, n_steps), np.bool_)
                cells = videos.allowed[videos.first_allowed[i] : videos.first_allowed[i + 1]].reshape(-1, n_steps)
                mask[videos.active[videos.first_active[i] : videos.first_active[i + 1]]] = cells
                allowed.append(mask)
            try:
                found = diffrac(np.concatenate(rows), allowed, self.settings)
            except np.linalg.LinAlgError:
                raise InputError(
                    f"task {task}: its features are too different in size to fit a linear map; see `crosstask validate`"
                ) from None
            log.info("task %s: duality gap %.2e after %d iterations", task, found.gaps[-1], len(found.gaps))
            weights[task] = found.weights
            self.after_task(found)
        return TaskScorer(weights, {task: corpus.tasks[task].steps for task in weights})
