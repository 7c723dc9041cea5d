"""Costs or scores (T, K) -> ordered labels, intervals and posterior probabilities; arrays only."""

from crosstask.inference.ceiling import ordered_ceiling
from crosstask.inference.decoders import DECODERS, Decoder, decode_scores, decoder_of
from crosstask.inference.marginals import once_marginals, once_marginals_in_batch
from crosstask.inference.once import decode_once, decode_once_batch
from crosstask.inference.ragged import concatenated, separated
from crosstask.inference.validation import BadCost, NoOrderedAnswer

__all__ = [
    "DECODERS",
    "BadCost",
    "Decoder",
    "NoOrderedAnswer",
    "concatenated",
    "decode_once",
    "decode_once_batch",
    "decode_scores",
    "decoder_of",
    "once_marginals",
    "once_marginals_in_batch",
    "ordered_ceiling",
    "separated",
]
