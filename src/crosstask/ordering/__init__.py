"""Costs (T, K) become ordered labels, spans and probabilities; arrays only."""

from crosstask.ordering.ceiling import ordered_ceiling
from crosstask.ordering.drops import place_steps_that_pay
from crosstask.ordering.marginals import (
    once_log_partition,
    once_marginals,
    once_marginals_in_batch,
    runs_marginals,
    sample_once,
)
from crosstask.ordering.once import place_each_step_once, place_each_step_once_in_batch
from crosstask.ordering.ragged import concatenated, separated
from crosstask.ordering.refusals import BadCost, NoOrderedAnswer
from crosstask.ordering.runs import place_each_step_as_run, place_runs_without_background
from crosstask.ordering.swaps import place_each_step_allowing_swaps

__all__ = [
    "BadCost",
    "NoOrderedAnswer",
    "concatenated",
    "once_log_partition",
    "once_marginals",
    "once_marginals_in_batch",
    "ordered_ceiling",
    "place_each_step_allowing_swaps",
    "place_each_step_as_run",
    "place_each_step_once",
    "place_each_step_once_in_batch",
    "place_runs_without_background",
    "place_steps_that_pay",
    "runs_marginals",
    "sample_once",
    "separated",
]
