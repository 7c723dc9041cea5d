"""The encoder that a user names, or the best one that is installed."""

import logging
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from crosstask.records import install_command
from crosstask.storage.derived_folders import cache_folder
from crosstask.text.encoders import CachedEncoder, Encoder, open_encoder
from crosstask.text.encoders.sentence import PACKAGED

log = logging.getLogger(__name__)


def choose_encoder(name: str | None, file: Path | None, documents: Sequence[str]) -> Encoder:
    """The encoder of that name; without a name, the sentence encoder where it is installed, otherwise TF-IDF of the documents.

    Vectors of the sentence encoder are cached in the user's cache folder, as it is slow.
    """
    if name is None:
        installed = _installed(file)
        name = "sentence" if installed else "tfidf"
        if not installed:
            log.warning("comparing words by TF-IDF; a sentence encoder finds more: %s", install_command("sentence"))
    encoder = open_encoder(name, file, documents)
    if name != "sentence":
        return encoder
    return CachedEncoder(
        encoder, cache_folder() / "embeddings", lambda done, total: log.warning("encoding: %d of %d", done, total)
    )


def sentence_encoder() -> Encoder:
    """The encoder of speech features: always the sentence encoder, as feature columns must not depend on the corpus."""
    return choose_encoder("sentence", None, ())


def installed_sentence_encoder() -> Encoder | None:
    """The packaged sentence encoder; None where it is not installed."""
    return sentence_encoder() if _installed(None) else None


def _installed(file: Path | None) -> bool:
    """True if the sentence encoder can be loaded, from `file` or from its package."""
    return find_spec("sentence_transformers") is not None and (file is not None or find_spec(PACKAGED) is not None)
