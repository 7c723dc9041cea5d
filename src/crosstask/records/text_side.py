"""The text side of image-text features: vectors of step names in the space of some feature columns."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class TextSide:
    """Which feature columns have a text side, and the unit vectors (d,) of the step names that were encoded so far.

    `model` is the entry of the feature spec, such as `clip:siglip#1a2b3c4d`. `folder` is where the model was found; it may be missing
    on another computer, and then only the encoded names are known.
    """

    model: str
    first: int  # the first of the d columns
    width: int  # d
    vectors: Mapping[str, npt.NDArray[np.float32]] = field(default_factory=dict, repr=False, compare=False)
    folder: str = field(default="", compare=False)

    @property
    def columns(self) -> slice:
        """The columns of the features that the vectors belong to."""
        return slice(self.first, self.first + self.width)
