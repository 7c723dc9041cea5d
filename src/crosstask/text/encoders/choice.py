"""The encoder that a user names, or the best one that is installed."""

import logging
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from crosstask.records import install_command
from crosstask.storage.derived_folders import cache_folder
from crosstask.text.encoders import CachedEncoder, Encoder, open_encoder
from crosstask.text.encoders.sentence import PACKAGED
from crosstask.text.encoders.universal import PACKAGE as UNIVERSAL
from crosstask.text.language import ENGLISH, detect_language

log = logging.getLogger(__name__)
_READ_CHARACTERS = 100_000  # of the documents, to detect their language


def choose_encoder(name: str | None, file: Path | None, documents: Sequence[str]) -> Encoder:
    """The encoder of that name; without a name, the best one that is installed for the language of the documents.

    For English that is the sentence encoder, for other languages the multilingual one, each otherwise the multilingual one or TF-IDF of
    the documents. Vectors of sentence encoders are cached in the user's cache folder, as they are slow.
    """
    if name is None:
        name = "sentence" if file is not None and _installed(file) else _best_name(_language(documents)) or "tfidf"
        if name == "tfidf":
            extra = "sentence" if _language(documents) in (None, ENGLISH) else "language"
            log.warning("comparing words by TF-IDF; a sentence encoder finds more: %s", install_command(extra))
    encoder = open_encoder(name, file, documents)
    return _cached(encoder) if name in ("sentence", "use") else encoder


def sentence_encoder() -> Encoder:
    """The encoder of speech features: always the sentence encoder, as feature columns must not depend on the corpus."""
    return choose_encoder("sentence", None, ())


def installed_sentence_encoder() -> Encoder | None:
    """The packaged sentence encoder; None where it is not installed."""
    return sentence_encoder() if _installed(None) else None


def encoder_for_language(language: str | None) -> Encoder | None:
    """The installed encoder for speech in a language (None: taken to be English): MiniLM for English, else the multilingual one, else None."""
    if language in (None, ENGLISH) and (english := installed_sentence_encoder()) is not None:
        return english
    return _cached(open_encoder("use")) if _multilingual() else None


def suited_encoder(encoder: Encoder | None, language: str | None) -> Encoder | None:
    """The encoder itself, unless it is missing or knows English alone and the language is another: then the multilingual one, or None."""
    if language in (None, ENGLISH) or (encoder is not None and not getattr(encoder, "english_only", False)):
        return encoder
    return encoder_for_language(language)


def _best_name(language: str | None) -> str | None:
    if language in (None, ENGLISH) and _installed(None):
        return "sentence"
    return "use" if _multilingual() else None


def _language(documents: Sequence[str]) -> str | None:
    return detect_language(" ".join(documents)[:_READ_CHARACTERS])


def _cached(encoder: Encoder) -> Encoder:
    return CachedEncoder(
        encoder, cache_folder() / "embeddings", lambda done, total: log.warning("encoding: %d of %d", done, total)
    )


def _multilingual() -> bool:
    """True if the multilingual encoder is installed."""
    return find_spec(UNIVERSAL) is not None


def _installed(file: Path | None) -> bool:
    """True if the sentence encoder can be loaded, from `file` or from its package."""
    return find_spec("sentence_transformers") is not None and (file is not None or find_spec(PACKAGED) is not None)
