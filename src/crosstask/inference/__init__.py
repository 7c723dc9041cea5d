"""Costs (T, K) become ordered labels, spans and probabilities; arrays only."""

from crosstask.inference.ceiling import ordered_ceiling
from crosstask.inference.drops import decode_with_drops
from crosstask.inference.marginals import (
    once_log_partition,
    once_marginals,
    once_marginals_in_batch,
    runs_marginals,
    sample_once,
)
from crosstask.inference.once import decode_once, decode_once_batch
from crosstask.inference.ragged import concatenated, separated
from crosstask.inference.runs import place_each_step_as_run, place_runs_without_background
from crosstask.inference.swaps import decode_with_swaps
from crosstask.inference.validation import BadCost, NoOrderedAnswer

__all__ = [
    "BadCost",
    "NoOrderedAnswer",
    "concatenated",
    "decode_once",
    "decode_once_batch",
    "decode_with_drops",
    "decode_with_swaps",
    "once_log_partition",
    "once_marginals",
    "once_marginals_in_batch",
    "ordered_ceiling",
    "place_each_step_as_run",
    "place_runs_without_background",
    "runs_marginals",
    "sample_once",
    "separated",
]
