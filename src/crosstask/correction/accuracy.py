"""The accuracy of a run, estimated from the checked steps that were drawn at random, with the interval of Clopper and Pearson.

With k right of n checked, and quantiles of the beta distribution,

    low = Beta(k, n - k + 1) at 2.5 %,     high = Beta(k + 1, n - k) at 97.5 %

covers the true share in at least 95 % of all reviews, whatever the share. Wilson's interval is narrower, but covers a share of 97 % in only 86 % of
reviews with five checked steps. The draws are without replacement, which makes the interval wider than necessary, never too narrow.
"""

from dataclasses import dataclass
from typing import Any

OUTSIDE = 0.05  # probability that the interval misses the true share, at most


@dataclass(frozen=True)
class Accuracy:
    """So many of the checked answers were right; `low` and `high` bound the share of right answers in the whole run."""

    right: int
    checked: int

    @property
    def share(self) -> float | None:
        """The share of right answers; None before the first is checked."""
        return self.right / self.checked if self.checked else None

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of Clopper and Pearson, 95 %.

        >>> [round(bound, 3) for bound in Accuracy(8, 10).interval]
        [0.444, 0.975]
        >>> Accuracy(0, 0).interval
        (0.0, 1.0)
        """
        from scipy.special import betaincinv

        n, k = self.checked, self.right
        low = betaincinv(k, n - k + 1, OUTSIDE / 2) if k else 0.0
        high = betaincinv(k + 1, n - k, 1 - OUTSIDE / 2) if k < n else 1.0
        return float(low), float(high)

    def to_json(self) -> dict[str, Any]:
        """`{"right", "checked", "accuracy", "low", "high"}`, fractions."""
        low, high = self.interval
        return {"right": self.right, "checked": self.checked, "accuracy": self.share, "low": low, "high": high}

    def __str__(self) -> str:
        """In words.

        >>> str(Accuracy(8, 10))
        '80 % of the steps are right (8 of 10 drawn at random; 95 % interval 44 to 97 %)'
        """
        if self.share is None:
            return "accuracy not known yet: no step drawn at random has been checked"
        low, high = self.interval
        return (
            f"{100 * self.share:.0f} % of the steps are right ({self.right} of {self.checked} drawn at random; "
            f"95 % interval {100 * low:.0f} to {100 * high:.0f} %)"
        )
