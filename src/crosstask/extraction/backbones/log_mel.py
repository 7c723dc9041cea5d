"""Audio features without weights: mean and standard deviation of the log-mel spectrogram."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crosstask.extraction.backbones.protocol import Rows
from crosstask.extraction.mel import N_BANDS, log_mel
from crosstask.extraction.second import Second


@dataclass(frozen=True)
class LogMel:
    """128 columns: means, then standard deviations, of 64 bands."""

    name: str = "log-mel"
    width: int = 2 * N_BANDS
    columns: str = "mean, then deviation, of 64 log-mel bands (125-7500 Hz) over the second"
    sampling: None = None

    def extract(self, seconds: Sequence[Second]) -> Rows:
        """(n, 128)."""
        spectra = [log_mel(second.audio) for second in seconds]
        return np.stack([np.concatenate([bands.mean(axis=0), bands.std(axis=0)]) for bands in spectra])
