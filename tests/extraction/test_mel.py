import numpy as np

from crosstask.extraction.mel import band_weights, log_mel


def test_tone_peaks_in_its_mel_band():
    weights = band_weights()
    assert weights.shape == (257, 64) and (weights.max(axis=0) > 0).all()
    tone = np.sin(2 * np.pi * 1000 * np.arange(16000) / 16000)
    spectrum = log_mel(tone).mean(axis=0)
    edges = np.linspace(1127 * np.log1p(125 / 700), 1127 * np.log1p(7500 / 700), 66)
    expected = int(np.abs(edges[1:-1] - 1127 * np.log1p(1000 / 700)).argmin())
    assert abs(int(spectrum.argmax()) - expected) <= 1
