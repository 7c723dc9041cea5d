import pytest

from crosstask.features import find_feature_spec, read_feature_spec, write_feature_spec
from crosstask.records import InputError


def test_spec_is_written_and_read(tmp_path):
    assert find_feature_spec(tmp_path) is None and read_feature_spec(tmp_path) == "unknown"
    write_feature_spec(tmp_path, "log-mel")
    assert (tmp_path / "feature_spec.txt").read_text() == "log-mel\n" and find_feature_spec(tmp_path) == "log-mel"


def test_spec_of_an_earlier_version_is_read_and_replaced(tmp_path):
    (tmp_path / "recipe.txt").write_text("\ufefflog-mel \n", "utf-8")
    assert read_feature_spec(tmp_path) == "log-mel"
    write_feature_spec(tmp_path, "i3d")
    assert read_feature_spec(tmp_path) == "i3d" and not (tmp_path / "recipe.txt").exists()


def test_spec_that_is_not_text_is_rejected_by_name(tmp_path):
    (tmp_path / "feature_spec.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"feature_spec\.txt: not UTF-8 text; save it as UTF-8"):
        read_feature_spec(tmp_path)
