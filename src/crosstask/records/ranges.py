"""Ranges of numbers that a user may give."""

from typing import NamedTuple


class Range(NamedTuple):
    """Smallest and largest value; `open_below` excludes the smallest, `open_above` the largest."""

    smallest: float
    largest: float
    open_below: bool = False
    open_above: bool = False

    def contains(self, value: float) -> bool:
        """True if the value is a number in the range; NaN and infinity are in none.

        >>> dropout = Range(0, 1, open_above=True); dropout.contains(0.7), dropout.contains(1.0), dropout.contains(float("nan"))
        (True, False, False)
        """
        above = value > self.smallest or (value == self.smallest and not self.open_below)
        return above and (value < self.largest or (value == self.largest and not self.open_above))

    def __str__(self) -> str:
        """In words.

        >>> str(Range(0, 1, open_above=True)), str(Range(0, 1000, open_below=True))
        ('from 0 to below 1', 'above 0 to 1000')
        """
        below = f"above {self.smallest:g}" if self.open_below else f"from {self.smallest:g}"
        return f"{below} to {'below ' if self.open_above else ''}{self.largest:.12g}"
