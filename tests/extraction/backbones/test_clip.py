import json

import numpy as np
import pytest

from crosstask.extraction.backbones.clip import Clip, chosen_device, halved_on_memory_error, seconds_that_fit
from crosstask.extraction.feature_spec import parse_feature_spec, text_side_of
from crosstask.extraction.second import Second
from crosstask.records import InputError
from image_text_models import MODEL_TYPES, make_model, make_tokenizer

pytest.importorskip("transformers", reason="extra sentence is not installed")
torch = pytest.importorskip("torch", reason="extra deep is not installed")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return {kind: make_model(tmp_path_factory.mktemp("models") / kind, kind) for kind in MODEL_TYPES}


def seconds_of(backbone, n=3, frames=None):
    rng, sampling = np.random.default_rng(0), backbone.sampling
    shape = (frames or sampling.per_second, sampling.size, sampling.size, 3)
    return [Second({sampling: rng.integers(0, 256, shape).astype(np.uint8)}, np.zeros(16000, np.float32)) for _ in range(n)]


@pytest.mark.parametrize("kind", MODEL_TYPES)
def test_rows_are_unit_vectors_in_the_space_of_the_text_side(kind, models):
    backbone = Clip(models[kind])
    rows = backbone.extract(seconds_of(backbone))
    assert rows.shape == (3, 16) and np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert backbone.sampling.per_second == (4 if kind == "xclip" else 1)
    spec = parse_feature_spec(f"clip={models[kind]}")
    assert str(spec).startswith(f"clip:{kind}#") and "/" not in str(spec)
    side = text_side_of(parse_feature_spec(f"log-mel,clip={models[kind]}"))
    assert (side.first, side.width, side.model) == (128, 16, str(spec))


def test_rows_are_those_of_the_real_classes(models):
    import transformers

    backbone = Clip(models["clip"])
    second = seconds_of(backbone, 1)[0]
    processor = transformers.AutoImageProcessor.from_pretrained(models["clip"], backend="pil")
    pixels = processor(images=[second.frames[backbone.sampling][0]], return_tensors="pt")["pixel_values"]
    with torch.inference_mode():
        output = transformers.CLIPModel.from_pretrained(models["clip"]).eval().get_image_features(pixel_values=pixels)
    vector = getattr(output, "pooler_output", output)[0].numpy()
    assert np.allclose(backbone.extract([second])[0], vector / np.linalg.norm(vector), atol=1e-5)


def test_a_second_with_too_few_frames_repeats_them(models):
    backbone = Clip(models["xclip"])
    assert backbone.extract(seconds_of(backbone, 1, frames=1)).shape == (1, 16)


def test_a_spec_is_refused_with_another_model_or_without_its_folder(models):
    spec = str(parse_feature_spec(f"clip={models['clip']}"))
    assert str(parse_feature_spec(spec, {"clip": models["clip"]})) == spec
    with pytest.raises(InputError, match="expected --features clip=FOLDER"):
        parse_feature_spec(spec)
    with pytest.raises(InputError, match="the weights given have digest"):
        parse_feature_spec(spec, {"clip": models["siglip"]})
    with pytest.raises(InputError, match="no such folder"):
        parse_feature_spec("clip=/nowhere")
    with pytest.raises(InputError, match="--features clop: unknown"):
        parse_feature_spec("clop=/nowhere")


def test_a_missing_image_processor_is_refused(tmp_path):
    folder = make_model(tmp_path / "clip")
    (folder / "preprocessor_config.json").unlink()
    backbone = Clip(folder)
    with pytest.raises(InputError, match="no image processor can be loaded"):
        backbone.extract(seconds_of(backbone))


def test_devices():
    assert chosen_device("auto") in ("cuda", "mps", "cpu") and chosen_device("cpu") == "cpu"
    with pytest.raises(InputError, match="--device tpu: unknown; expected one of auto"):
        chosen_device("tpu")
    absent = "mps" if not torch.backends.mps.is_available() else "cuda"
    with pytest.raises(InputError, match=f"--device {absent}: PyTorch finds none on this computer"):
        chosen_device(absent)


def test_batches_are_sized_to_memory():
    sizes = [seconds_that_fit(gib * 2**30, 3 * 224 * 224) for gib in (0, 1, 8, 80, 8000)]
    assert sizes == sorted(sizes) and sizes[0] == 1 and sizes[-1] == 256


def test_a_batch_that_does_not_fit_is_halved():
    seen = []

    def embed(clips):
        if len(clips) > 2:
            raise torch.OutOfMemoryError("too large")
        seen.append(len(clips))
        return clips

    clips = np.arange(7)
    assert np.array_equal(halved_on_memory_error(embed, clips), clips) and max(seen) <= 2

    def never(clips):
        raise torch.OutOfMemoryError("too large")

    with pytest.raises(InputError, match="one second of video does not fit"):
        halved_on_memory_error(never, clips)


def test_a_tokenizer_that_does_not_fit_is_refused_before_the_first_frame(tmp_path):
    folder = make_model(tmp_path / "clip", "clip")
    make_tokenizer(folder, "few words")
    backbone = Clip(folder)
    with pytest.raises(InputError, match="the tokenizer of another model"):
        backbone.extract(seconds_of(backbone, 1))


def test_a_frame_size_that_no_model_has_is_refused(tmp_path):
    folder = make_model(tmp_path / "clip")
    config = json.loads((folder / "config.json").read_text())
    config["vision_config"]["image_size"] = 9_999_999
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="frames of 9999999 pixels; expected at most 2048"):
        _ = Clip(folder).sampling
