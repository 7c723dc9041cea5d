import numpy as np
import pytest

from crosstask.features import find_text_side, write_text_side
from crosstask.records import InputError, TextSide


def test_what_was_written_is_read_and_equal_contents_are_equal_bytes(tmp_path):
    assert find_text_side(tmp_path) is None
    vectors = {"stir": np.array([0.6, 0.8], np.float32), "añadir sal": np.array([1, 0], np.float32)}
    path = write_text_side(tmp_path, TextSide("clip:clip#0", 3, 2, vectors, "somewhere"))
    found = find_text_side(tmp_path)
    assert (found.model, found.columns, found.folder) == ("clip:clip#0", slice(3, 5), "somewhere")
    assert set(found.vectors) == set(vectors) and all(np.array_equal(found.vectors[n], vectors[n]) for n in vectors)
    before = path.read_bytes()
    write_text_side(tmp_path, TextSide("clip:clip#0", 3, 2, dict(reversed(vectors.items())), "somewhere"))
    assert path.read_bytes() == before


def test_no_names_yet(tmp_path):
    write_text_side(tmp_path, TextSide("clip:clip#0", 0, 2))
    assert find_text_side(tmp_path).vectors == {}


@pytest.mark.parametrize("content", [b"", b"garbage", b"\xff" * 64])
def test_anything_else_is_refused(tmp_path, content):
    (tmp_path / "text_side.safetensors").write_bytes(content)
    with pytest.raises(InputError, match="not a text side written by `crosstask extract`"):
        find_text_side(tmp_path)


def test_vectors_that_do_not_fit_are_refused(tmp_path):
    from safetensors.numpy import save_file

    about = '{"model": "m", "first": 0, "width": 3, "folder": "", "names": ["a"]}'
    save_file({"vectors": np.zeros((1, 2), np.float32)}, tmp_path / "text_side.safetensors", {"crosstask": about})
    with pytest.raises(InputError, match="not a text side"):
        find_text_side(tmp_path)
