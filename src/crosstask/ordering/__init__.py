"""Costs (T, K) become ordered labels, spans and probabilities; arrays only."""

from crosstask.ordering.marginals import once_log_partition, once_marginals, once_marginals_in_batch, sample_once
from crosstask.ordering.once import place_each_step_once, place_each_step_once_in_batch
from crosstask.ordering.ragged import concatenated, separated
from crosstask.ordering.refusals import BadCost, NoOrderedAnswer

__all__ = [
    "BadCost",
    "NoOrderedAnswer",
    "concatenated",
    "once_log_partition",
    "once_marginals",
    "once_marginals_in_batch",
    "place_each_step_once",
    "place_each_step_once_in_batch",
    "sample_once",
    "separated",
]
