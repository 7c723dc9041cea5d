import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from crosstask.records import InputError, TextSide
from crosstask.text.encoders.image_text import ImageTextEncoder, load_image_text, model_digest, model_type, text_vectors
from fuzz.hanging import no_hang
from image_text_models import MODEL_TYPES, make_model, make_tokenizer

pytest.importorskip("transformers", reason="extra sentence is not installed")
pytest.importorskip("torch", reason="extra deep is not installed")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return {kind: make_model(tmp_path_factory.mktemp("models") / kind, kind) for kind in MODEL_TYPES}


@pytest.fixture
def clip(models, tmp_path):
    """A copy of the CLIP model that a test may damage."""
    return shutil.copytree(models["clip"], tmp_path / "clip")


@pytest.mark.parametrize("kind", MODEL_TYPES)
def test_names_have_unit_vectors_that_do_not_depend_on_the_batch(kind, models):
    encoder = ImageTextEncoder(models[kind])
    together = encoder.encode(["pour milk", "whisk egg", "make toast"])
    assert together.shape == (3, 16) and np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.allclose(encoder.encode(["whisk egg"])[0], together[1], atol=1e-5)
    assert np.abs(together[0] - together[1]).max() > 1e-3
    assert np.array_equal(encoder.encode(["Pour_Milk"]), encoder.encode(["pour milk"]))
    assert encoder.identity == f"clip:{kind}#{model_digest(models[kind])}"


def test_vectors_are_those_of_the_real_classes(models):
    """The text side of transformers, called as its documentation says, gives the same vectors."""
    import torch
    import transformers

    model = transformers.CLIPModel.from_pretrained(models["clip"]).eval()
    tokens = transformers.AutoTokenizer.from_pretrained(models["clip"])(["pour milk"], return_tensors="pt")
    with torch.inference_mode():
        output = model.get_text_features(input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"])
    vector = getattr(output, "pooler_output", output)[0].numpy()
    assert np.allclose(ImageTextEncoder(models["clip"]).encode(["pour milk"])[0], vector / np.linalg.norm(vector), atol=1e-5)


def test_the_digest_ignores_files_that_do_not_matter(clip):
    before = model_digest(clip)
    (clip / "README.md").write_text("a note")
    model_digest.cache_clear()
    assert model_digest(clip) == before
    make_model(clip, "clip", seed=1)
    model_digest.cache_clear()
    assert model_digest(clip) != before


def test_a_folder_that_is_no_model_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        model_type(tmp_path / "gone")
    with pytest.raises(InputError, match=r"not a model: no config\.json"):
        model_type(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "vit"}')
    with pytest.raises(InputError, match="model type 'vit' has no text side"):
        model_type(tmp_path)


LOADING = "import sys, pathlib, crosstask.text.encoders.image_text as it; it.load_image_text(pathlib.Path(sys.argv[1]))"


def test_a_missing_text_side_is_refused(clip):
    from safetensors.numpy import load_file, save_file

    weights = load_file(clip / "model.safetensors")
    kept = {name: array for name, array in weights.items() if not name.startswith("text")}
    save_file(kept, clip / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match="its text side is missing: no weights for 'text"):
        load_image_text(clip)
    said = subprocess.run([sys.executable, "-c", LOADING, str(clip)], capture_output=True, text=True, check=False).stderr
    assert "its text side is missing" in said and "LOAD REPORT" not in said, "one line, without the table of transformers"
    config = json.loads((clip / "config.json").read_text())
    del config["text_config"]
    (clip / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="no text_config, so the text side is missing"):
        model_type(clip)


def test_pickled_weights_are_never_loaded(clip):
    (clip / "model.safetensors").rename(clip / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"pytorch_model\.bin is pickled, which is never loaded; save the model again"):
        load_image_text(clip)


def test_damaged_weights_are_refused(clip):
    path = clip / "model.safetensors"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError, match=r"clip: (damaged weights|cannot be loaded)"):
        load_image_text(clip)


@pytest.mark.parametrize("letters", ["few words", "".join(map(chr, range(0x400, 0x4A0)))], ids=["smaller", "larger"])
def test_the_tokenizer_of_another_model_is_refused(clip, letters):
    make_tokenizer(clip, letters)
    with pytest.raises(InputError, match=r"tokens, the text side .* the tokenizer of another model"):
        ImageTextEncoder(clip).encode(["pour milk"])


def test_a_missing_tokenizer_is_refused(clip):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (clip / name).unlink()
    with pytest.raises(InputError, match="tokenizer"):
        ImageTextEncoder(clip).encode(["pour milk"])


def test_stored_vectors_need_no_model_and_new_names_need_its_folder(models):
    encoder = ImageTextEncoder(models["clip"])
    stored = dict(zip(["pour milk"], encoder.encode(["pour milk"]), strict=True))
    side = TextSide(encoder.identity, 0, 16, stored, "/nowhere")
    assert np.array_equal(text_vectors(side, ["pour milk"])[0], stored["pour milk"])
    with pytest.raises(InputError, match=r"step 'stir': its vector .* is not stored.*--features clip=FOLDER"):
        text_vectors(side, ["pour milk", "stir"])
    here = replace(side, folder=str(models["clip"]))
    assert np.allclose(text_vectors(here, ["stir", "pour milk"]), encoder.encode(["stir", "pour milk"]), atol=1e-5)
    with pytest.raises(InputError, match=r"is clip:siglip#.*; the features were made by clip:clip#"):
        text_vectors(replace(side, folder=str(models["siglip"])), ["stir"])


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_pipe_in_a_model_folder_is_refused(clip, name):
    (clip / name).unlink()
    os.mkfifo(clip / name)
    with no_hang(), pytest.raises(InputError, match=f"{name} is a pipe or device"):
        load_image_text(clip)
