"""Small image-text models with random weights, made on the spot by the real classes of transformers and a real tokenizer."""

import json
from pathlib import Path

import pytest

SENTENCES = "pour the milk, then stir; whisk egg, add sugar and water into a cup, cut bread, make toast"
MODEL_TYPES = ("clip", "siglip", "siglip2", "xclip")


def make_tokenizer(folder: Path, sentences: str = SENTENCES) -> int:
    """A byte-pair tokenizer trained on some sentences, in `folder`; the number of its tokens."""
    tokenizers, transformers = pytest.importorskip("tokenizers"), pytest.importorskip("transformers")
    special = ["<pad>", "<unk>", "<bos>", "<eos>", "<mask>"]
    inner = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    inner.normalizer = tokenizers.normalizers.Replace(" ", "\u2581")
    inner.train_from_iterator(
        [sentences], tokenizers.trainers.BpeTrainer(vocab_size=90, special_tokens=special, show_progress=False)
    )
    inner.post_processor = tokenizers.processors.TemplateProcessing(single="$A <eos>", special_tokens=[("<eos>", 3)])
    named = {"unk_token": "<unk>", "pad_token": "<pad>", "bos_token": "<bos>", "eos_token": "<eos>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=inner, **named).save_pretrained(folder)
    return inner.get_vocab_size()


def make_model(folder: Path, model_type: str = "clip", seed: int = 0) -> Path:
    """A folder of a small model of that type with random weights; its common space has 16 dimensions."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(seed)
    n_tokens = make_tokenizer(folder)
    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    text = {
        **small,
        "vocab_size": n_tokens,
        "max_position_embeddings": 24,
        "pad_token_id": 0,
        "eos_token_id": 3,
        "bos_token_id": 2,
    }
    vision = {**small, "image_size": 32, "patch_size": 16}
    if model_type == "clip":
        config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=16)
        model, processor = transformers.CLIPModel(config), transformers.CLIPImageProcessor
    elif model_type == "xclip":
        vision |= {
            "num_frames": 4,
            "mit_hidden_size": 16,
            "mit_intermediate_size": 16,
            "mit_num_attention_heads": 2,
            "mit_num_hidden_layers": 1,
        }
        config = transformers.XCLIPConfig(text_config=text, vision_config=vision, projection_dim=16, prompt_num_attention_heads=2)
        model, processor = transformers.XCLIPModel(config), transformers.CLIPImageProcessor
    elif model_type == "siglip":
        model = transformers.SiglipModel(transformers.SiglipConfig(text_config=text, vision_config=vision))
        processor = transformers.SiglipImageProcessor
    else:
        vision = {**small, "patch_size": 16, "num_patches": 4}
        model = transformers.Siglip2Model(transformers.Siglip2Config(text_config=text, vision_config=vision))
        (folder / "preprocessor_config.json").write_text(
            json.dumps({"image_processor_type": "Siglip2ImageProcessor", "patch_size": 16, "max_num_patches": 4})
        )
        processor = None
    for parameter in model.parameters():  # spread out, so that different inputs give clearly different vectors
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)
    if processor is not None:
        size = {"height": 32, "width": 32}
        (folder / "preprocessor_config.json").write_text(
            json.dumps({"image_processor_type": processor.__name__, "size": size, "do_center_crop": False})
        )
    return folder
