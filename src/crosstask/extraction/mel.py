"""Log-mel spectrogram as defined by VGGish: 25 ms windows every 10 ms, 64 bands from 125 to 7500 Hz, log(mel + 0.01).

mel(f) = 1127 ln(1 + f / 700);   S = |FFT_512(hann * x)|;   L = log(S M + 0.01)
"""

from functools import cache

import numpy as np
import numpy.typing as npt

from crosstask.extraction.second import SAMPLE_RATE

WINDOW = 400  # samples, 25 ms
HOP = 160  # samples, 10 ms
N_FFT = 512
N_BANDS = 64
LOWEST_HZ, HIGHEST_HZ = 125.0, 7500.0
FLOOR = 0.01  # added before the logarithm


def log_mel(audio: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """(windows, 64) log-mel values of (samples,) audio; incomplete windows at the end are left out.

    >>> log_mel(np.zeros(16000)).shape, round(float(log_mel(np.zeros(16000)).max()), 3)
    ((98, 64), -4.605)
    """
    n_windows = 1 + (len(audio) - WINDOW) // HOP
    windows = np.lib.stride_tricks.sliding_window_view(np.asarray(audio, np.float64), WINDOW)[::HOP][:n_windows]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)  # periodic
    magnitude = np.abs(np.fft.rfft(windows * hann, N_FFT))  # (windows, 257)
    return np.log(magnitude @ band_weights() + FLOOR).astype(np.float32)


@cache
def band_weights() -> npt.NDArray[np.float64]:
    """(257, 64) triangular filters on the mel scale; the lowest FFT bin has weight zero."""
    bins = _mel(np.arange(N_FFT // 2 + 1) * SAMPLE_RATE / N_FFT)
    edges = np.linspace(_mel(np.array(LOWEST_HZ)), _mel(np.array(HIGHEST_HZ)), N_BANDS + 2)
    rising = (bins[:, None] - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins[:, None]) / (edges[2:] - edges[1:-1])
    weights = np.maximum(0.0, np.minimum(rising, falling))
    weights[0] = 0.0
    return weights


def _mel(hz: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Frequencies in mel, by the equation above."""
    return np.asarray(1127.0 * np.log1p(np.asarray(hz, np.float64) / 700.0))
