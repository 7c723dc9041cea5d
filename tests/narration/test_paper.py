import numpy as np

from crosstask.narration.paper import PaperSettings, paper_windows
from crosstask.narration.units import cue_windows
from narration.speech import speak


def test_paper_windows_by_hand() -> None:
    units = cue_windows(speak(["x"] * 20), 0)
    similarity = np.zeros((20, 2))
    similarity[4, 0], similarity[2, 1], similarity[10, 1] = 0.9, 0.8, 0.5
    windows = paper_windows(units, similarity, 60, PaperSettings())
    # step 0 at line 4 (0.9), step 1 at line 10 (0.5): its better mention at line 2 would come too early
    assert [(w.interval.start_s, w.interval.end_s) for w in windows] == [(10, 19), (28, 37)]
