"""Image-text models in a folder: CLIP, SigLIP, SigLIP 2, X-CLIP in the format of Hugging Face; weights as safetensors alone. Extra: sentence.

Both sides of such a model end in one space, so a step name can be compared with a frame. This file loads the model and encodes
names; `extraction/backbones/clip.py` encodes frames.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.records import InputError, MissingExtra, TextSide
from crosstask.storage import MAX_SMALL_BYTES, read_text, single_thread
from crosstask.text.encoders.protocol import Vectors, unit_rows
from crosstask.text.stems import words_of_step_parts

MODEL_TYPES = ("clip", "siglip", "siglip2", "xclip")  # `model_type` in config.json
_EXPECTED = f"a folder of an image-text model ({', '.join(MODEL_TYPES)}) with config.json and model.safetensors"
_HASHED = {".safetensors", ".json", ".txt", ".model"}  # what decides the vectors; other files in a folder do not
_SMALLEST_SHARE = 0.9  # of the text side's vocabulary that its own tokenizer fills; vocabularies are padded by less


def model_type(folder: Path) -> str:
    """`clip`, `siglip`, `siglip2` or `xclip`, from config.json; anything else is refused."""
    if not folder.is_dir():
        raise InputError(f"--features clip={folder}: no such folder; expected {_EXPECTED}")
    if pipes := [path.name for path in folder.iterdir() if path.exists() and not path.is_file() and not path.is_dir()]:
        raise InputError(f"{folder}: {pipes[0]} is a pipe or device; expected {_EXPECTED}")
    try:
        config = json.loads(read_text(folder / "config.json", max_bytes=MAX_SMALL_BYTES))
        found = str(config["model_type"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{folder}: not a model: no config.json that names its model_type; expected {_EXPECTED}") from None
    if found not in MODEL_TYPES:
        raise InputError(f"{folder}: model type '{found}' has no text side that is known here; expected {_EXPECTED}")
    if "text_config" not in config and "text_config_dict" not in config:
        raise InputError(f"{folder}: config.json has no text_config, so the text side is missing; expected {_EXPECTED}")
    if not list(folder.glob("*.safetensors")):
        pickled = sorted(path.name for pattern in ("*.bin", "*.pt", "*.pth", "*.pkl") for path in folder.glob(pattern))
        reason = f"{pickled[0]} is pickled, which is never loaded" if pickled else "no weights"
        raise InputError(f"{folder}: {reason}; save the model again with save_pretrained, which writes model.safetensors")
    return found


@cache
def model_digest(folder: Path) -> str:
    """Eight hex digits of the SHA-256 of the files of a model folder that decide its vectors."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.suffix in _HASHED and path.is_file()):
        digest.update(path.name.encode())
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()[:8]


def load_image_text(folder: Path) -> Any:
    """The transformers model of a folder, on the CPU; a model with missing weights is refused."""
    model_type(folder)
    library = need_transformers()
    library.utils.logging.disable_progress_bar()
    try:
        with _quiet(library):
            model, loading = library.AutoModel.from_pretrained(
                folder, use_safetensors=True, local_files_only=True, trust_remote_code=False, output_loading_info=True
            )
    except (OSError, ValueError, RuntimeError, ImportError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{folder}: cannot be loaded ({_first_line(error)}); expected {_EXPECTED}") from None
    except Exception as error:  # safetensors raises its own kind for damaged files
        raise InputError(f"{folder}: damaged weights ({_first_line(error)}); copy the folder again") from None
    missing = sorted(loading["missing_keys"]) + sorted(str(key) for key in loading.get("mismatched_keys", ()))
    if missing:
        side = "text side" if "text" in missing[0] else "image side"
        raise InputError(f"{folder}: its {side} is missing: no weights for '{missing[0]}'; expected {_EXPECTED}")
    model.eval()
    return model


@contextmanager
def _quiet(library: Any) -> Iterator[None]:
    """A block without the warnings of transformers, which lists missing weights in a long table: our error names the first."""
    before = library.utils.logging.get_verbosity()
    library.utils.logging.set_verbosity_error()
    try:
        yield
    finally:
        library.utils.logging.set_verbosity(before)


def need_transformers() -> Any:
    """The module `transformers`, or an error that names the extra to install."""
    try:
        import torch  # noqa: F401 - transformers loads without it, but cannot compute
        import transformers
    except ImportError:
        raise MissingExtra("image-text features (package transformers)", "sentence") from None
    return transformers


class ImageTextEncoder:
    """The text side of an image-text model: an encoder of step names, loaded at the first call of `encode`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def identity(self) -> str:
        """The entry of the feature spec, which names the model type and a digest of its files."""
        return f"clip:{model_type(self.folder)}#{model_digest(self.folder)}"

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        model = load_image_text(self.folder)
        return model, load_tokenizer(self.folder, int(model.config.text_config.vocab_size))

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """(n, d) float32, unit rows; sentences are lower-cased words, as all these models were trained on."""
        model, tokenizer = self._loaded
        import torch

        longest = int(model.config.text_config.max_position_embeddings)
        texts = [" ".join(words_of_step_parts(sentence)) or sentence.lower() for sentence in sentences]
        padding = "max_length" if model.config.model_type.startswith("siglip") else True  # as SigLIP was trained
        rows = []
        with single_thread(), torch.inference_mode():
            for text in texts:  # one at a time: in a batch the last bits of a row depend on the other texts
                tokens = tokenizer([text], padding=padding, truncation=True, max_length=longest, return_tensors="pt")
                known = {name: tokens[name] for name in ("input_ids", "attention_mask") if name in tokens}
                if padding == "max_length":
                    known.pop("attention_mask", None)  # SigLIP was trained without one
                rows.append(pooled(model.get_text_features(**known)).numpy())
        return unit_rows(np.concatenate(rows).astype(np.float32))


def pooled(output: Any) -> Any:
    """The vectors (n, d) in the output of `get_text_features` or `get_image_features`, a tensor in some versions."""
    return getattr(output, "pooler_output", output)


def load_tokenizer(folder: Path, n_tokens: int) -> Any:
    """The tokenizer of a model folder; one that does not fit the text side, which has so many tokens, is refused."""
    library = need_transformers()
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        n_found, ids = len(tokenizer), set(tokenizer("pour the milk, then stir")["input_ids"])
    except Exception as error:  # a missing or damaged tokenizer raises many kinds of errors
        raise InputError(f"{folder}: no tokenizer can be loaded ({_first_line(error)}); copy its tokenizer files too") from None
    if not _SMALLEST_SHARE * n_tokens <= n_found <= n_tokens or max(ids) >= n_tokens:
        raise InputError(
            f"{folder}: its tokenizer has {n_found} tokens, the text side {n_tokens}: the tokenizer of another model; copy its own"
        )
    if not ids - set(tokenizer.all_special_ids):
        raise InputError(f"{folder}: its tokenizer knows no word of 'pour the milk, then stir'; copy the tokenizer of this model")
    return tokenizer


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).split("\n")[0][:120]


@cache
def _encoder(folder: str) -> ImageTextEncoder:
    return ImageTextEncoder(Path(folder))


def text_vectors(side: TextSide, names: Sequence[str]) -> Vectors:
    """(n, d) unit vectors of step names: stored ones, otherwise encoded by the model of the text side where its folder is here."""
    unknown = sorted({name for name in names if name not in side.vectors})
    found = dict(side.vectors)
    if unknown:
        if not side.folder or not Path(side.folder).is_dir():
            raise InputError(
                f"step '{unknown[0]}': its vector by {side.model} is not stored, and the folder of that model is not known here; "
                "give it: --features clip=FOLDER"
            )
        encoder = _encoder(side.folder)
        if encoder.identity != side.model:
            raise InputError(f"{side.folder}: is {encoder.identity}; the features were made by {side.model}: give that folder")
        found |= dict(zip(unknown, encoder.encode(unknown), strict=True))
    return np.stack([found[name] for name in names]).astype(np.float32)
