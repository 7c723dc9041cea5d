"""Decoders by name: scores (T, K) -> one segment per step.

once    every step at one segment, in list order: the paper's inference
swaps   the same, but two neighbouring steps of the list may change places
free    every step at its best segment, in any order: for posteriors that contain the order already
drops   in list order, but a step is dropped (-1) when order leaves it only segments that score worse than a random one
"""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from crosstask.inference.drops import decode_with_drops
from crosstask.inference.once import decode_once
from crosstask.inference.swaps import decode_with_swaps
from crosstask.inference.validation import BadCost

Scores = npt.NDArray[np.floating]
Times = npt.NDArray[np.int64]
Decoder = Callable[[Scores], Times]


def _once(scores: Scores) -> Times:
    return decode_once(-scores)


def _swaps(scores: Scores) -> Times:
    return decode_with_swaps(-scores)


def _drops(scores: Scores) -> Times:
    """Costs are -log softmax over the segments of the video, so a uniform score costs log T: the cost of dropping a step."""
    shifted = np.asarray(scores, dtype=np.float64) - np.max(scores, axis=0)
    cost = np.log(np.exp(shifted).sum(axis=0)) - shifted
    return decode_with_drops(cost, np.log(len(scores)))


def _free(scores: Scores) -> Times:
    if np.isnan(scores).any():
        raise BadCost("scores contain NaN; expected a number for each segment and step")
    return np.argmax(scores, axis=0).astype(np.int64)


DECODERS: Mapping[str, Decoder] = {"once": _once, "swaps": _swaps, "drops": _drops, "free": _free}


def decoder_of(scorer: object, decoder: str | None = None) -> str:
    """The decoder that the user names; otherwise the scorer's own, `once` unless it says another."""
    inner = getattr(scorer, "scorer", scorer)  # of a model
    return decoder if decoder is not None else str(getattr(inner, "decoder", "once"))


def decode_scores(scores: Scores, decoder: str = "once") -> Times:
    """(K,) segments of the steps, -1 for a dropped one; scores are (T, K), higher is better.

    >>> decode_scores(np.array([[0.0, 9.0], [8.0, 0.0], [1.0, 0.0]]), "swaps")
    array([1, 0])
    """
    if decoder not in DECODERS:
        raise ValueError(f"decoder '{decoder}' is unknown; expected one of {', '.join(DECODERS)}")
    return DECODERS[decoder](scores)
