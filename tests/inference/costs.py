"""Cost matrices as hypothesis draws them: small whole numbers, so that sums are exact and ties are common."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

whole = st.integers(-3, 3).map(float)
whole_or_forbidden = st.one_of(whole, whole, whole, st.just(np.inf))
smooth = st.floats(-4, 4, width=32)


@st.composite
def costs(
    draw: st.DrawFn, elements: st.SearchStrategy[float] = whole, most_T: int = 7, most_K: int = 4, fits: bool = True
) -> np.ndarray:
    """(T, K), float32 or float64; with `fits`, T >= K."""
    K = draw(st.integers(1, most_K))
    T = draw(st.integers(K if fits else 1, most_T))
    return draw(arrays(draw(st.sampled_from([np.float32, np.float64])), (T, K), elements=elements))
