"""The encoder contract, over the table; and what each encoder is known for."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosstask.records import InputError, MissingExtra
from crosstask.text.encoders import ENCODERS, CachedEncoder, Encoder, open_encoder, similarity_of
from crosstask.text.encoders.learned import LearnedEncoder, Parameters, read_learned, write_learned
from crosstask.text.encoders.sentence import PACKAGED, SentenceEncoder, load_sentence_transformer
from crosstask.text.encoders.tfidf import fit_tfidf
from crosstask.text.encoders.word_vectors import MaxPooled, WordVectors, read_word_vectors

DOCUMENTS = ["pour the milk into the cup", "whisk the eggs with the milk", "toast the bread in a pan"]


def write_word_vectors(path: Path, table: WordVectors) -> None:
    np.save(path, table.vectors.astype(np.float16), allow_pickle=False)
    path.with_suffix(".words.txt").write_text("\n".join(table.words) + "\n", encoding="utf-8")


def small_table(seed: int = 0) -> WordVectors:
    words = sorted({word for document in DOCUMENTS for word in document.split()})
    vectors = np.random.default_rng(seed).standard_normal((len(words), 8)).astype(np.float16).astype(np.float32)
    return WordVectors(tuple(words), vectors)


def small_learned(seed: int = 0) -> LearnedEncoder:
    rng = np.random.default_rng(seed)
    W1, b1, W2, b2 = (rng.standard_normal(shape).astype(np.float32) for shape in ((5, 8), (5,), (5, 5), (5,)))
    return LearnedEncoder(small_table(), Parameters(W1, b1, W2, b2))


@pytest.fixture(params=sorted(ENCODERS))
def encoder(request: pytest.FixtureRequest, tmp_path: Path) -> Encoder:
    name = request.param
    if name == "sentence":
        pytest.importorskip("sentence_transformers", reason="the extra 'sentence' is not installed")
        pytest.importorskip(PACKAGED, reason="the packaged sentence model is not installed")
        return open_encoder(name)
    file = None
    if name == "max-pooled":
        file = tmp_path / "small.npy"
        write_word_vectors(file, small_table())
    if name == "learned":
        file = tmp_path / "encoder.safetensors"
        write_learned(file, small_learned(), {})
    return open_encoder(name, file, DOCUMENTS)


def test_rows_are_unit_or_zero(encoder: Encoder) -> None:
    rows = encoder.encode([*DOCUMENTS, ""])
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 1, 1, 0], atol=1e-5)


def test_sentence_is_nearest_to_itself_in_any_batch(encoder: Encoder) -> None:
    together = encoder.encode(DOCUMENTS)
    assert ((together @ together.T).argmax(axis=1) == np.arange(3)).all()
    alone = np.concatenate([encoder.encode([document]) for document in DOCUMENTS])
    np.testing.assert_allclose(alone, together, atol=1e-5)
    np.testing.assert_allclose(similarity_of(encoder, DOCUMENTS, ["milk"]), together @ encoder.encode(["milk"]).T, atol=1e-5)


def test_empty_input_gives_no_rows(encoder: Encoder) -> None:
    assert encoder.encode([]).shape == (0, encoder.encode(["milk"]).shape[1])


def test_cache_returns_equal_rows_and_encodes_once(encoder: Encoder, tmp_path: Path) -> None:
    asked: list[str] = []

    class Asking:
        identity = encoder.identity

        def encode(self, sentences):
            asked.extend(sentences)
            return encoder.encode(sentences)

    first = CachedEncoder(Asking(), tmp_path).encode([*DOCUMENTS, DOCUMENTS[0]])
    again = CachedEncoder(Asking(), tmp_path).encode([DOCUMENTS[0], *DOCUMENTS[1:], DOCUMENTS[0]])
    assert sorted(asked) == sorted(DOCUMENTS)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_allclose(first[:3], encoder.encode(DOCUMENTS), atol=2e-3)


def test_cached_rows_do_not_depend_on_what_was_encoded_before(encoder: Encoder, tmp_path: Path) -> None:
    steps = [
        f"{verb} the {noun}" for verb in ("pour", "slowly whisk", "cut") for noun in ("milk", "egg whites of two eggs", "tea")
    ]
    together = CachedEncoder(encoder, tmp_path / "together").encode(steps)
    for first in range(0, len(steps), 2):
        CachedEncoder(encoder, tmp_path / "parts").encode(steps[first : first + 2])
    np.testing.assert_array_equal(CachedEncoder(encoder, tmp_path / "parts").encode(steps), together)


def test_unreadable_cache_file_is_computed_again(tmp_path: Path) -> None:
    encoder = fit_tfidf(DOCUMENTS)
    expected = CachedEncoder(encoder, tmp_path).encode(DOCUMENTS)
    for file in tmp_path.rglob("*.safetensors"):
        file.write_bytes(file.read_bytes()[:50])
    np.testing.assert_array_equal(CachedEncoder(encoder, tmp_path).encode(DOCUMENTS), expected)


def reversed_rows(file: Path) -> None:
    from safetensors.numpy import load_file, save_file

    shard = load_file(file)
    save_file({**shard, "rows": np.ascontiguousarray(shard["rows"][::-1])}, file, {"digest": "0" * 64})


def test_cached_vectors_that_are_damaged_are_computed_again(tmp_path: Path) -> None:
    encoder = fit_tfidf(DOCUMENTS)
    expected = CachedEncoder(encoder, tmp_path).encode(DOCUMENTS)
    (file,) = tmp_path.rglob("*.safetensors")
    reversed_rows(file)
    np.testing.assert_array_equal(CachedEncoder(encoder, tmp_path).encode(DOCUMENTS), expected)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_a_pipe_in_the_place_of_cached_vectors_is_named(tmp_path: Path) -> None:
    encoder = fit_tfidf(DOCUMENTS)
    CachedEncoder(encoder, tmp_path).encode(DOCUMENTS)
    (file,) = tmp_path.rglob("*.safetensors")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(OSError, match="a pipe or device"):
        CachedEncoder(encoder, tmp_path).encode(DOCUMENTS)


def test_tfidf_by_hand() -> None:
    encoder = fit_tfidf(["pour milk", "pour pour eggs"])
    assert encoder.words == ("egg", "milk", "pour")
    once, both = 1 + np.log(3 / 2), 1.0
    row = np.array([once, 0, 2 * both])
    np.testing.assert_allclose(encoder.encode(["Pouring, egg pours!"])[0], row / np.linalg.norm(row), rtol=1e-6)


def test_max_pooling_by_hand_ignores_word_order() -> None:
    table = WordVectors(("a", "b"), np.array([[3, -1], [0, 4]], np.float32))
    np.testing.assert_allclose(MaxPooled(table).encode(["a b", "b a", "A, b!"]), [[0.6, 0.8]] * 3, rtol=1e-6)


def test_learned_encoder_by_hand() -> None:
    table = WordVectors(("a", "b"), np.array([[1, 0], [0, 1]], np.float32))
    p = Parameters(
        np.array([[1, 2], [3, -4]], np.float32),
        np.array([0.5, 0], np.float32),
        np.array([[0, 1], [1, 0]], np.float32),
        np.array([0, 1.5], np.float32),
    )
    # words: a -> (1.5, 3), b -> (2.5, -4); maximum (2.5, 3); swapped and shifted (3, 4)
    np.testing.assert_allclose(LearnedEncoder(table, p).encode(["a b"]), [[0.6, 0.8]], rtol=1e-6)


def test_learned_encoder_file_round_trip_is_exact(tmp_path: Path) -> None:
    write_learned(tmp_path / "a", small_learned(), {"seed": 1, "articles": 5})
    write_learned(tmp_path / "b", read_learned(tmp_path / "a"), {"articles": 5, "seed": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    np.testing.assert_array_equal(read_learned(tmp_path / "a").encode(DOCUMENTS), small_learned().encode(DOCUMENTS))


@pytest.mark.parametrize("head", ["", "2 3\n"])
def test_text_word_vectors_of_glove_and_fasttext(tmp_path: Path, head: str) -> None:
    (tmp_path / "v.txt").write_text(head + "milk 1 2 3\npour 4 5 6\n")
    table = read_word_vectors(tmp_path / "v.txt")
    assert table.words == ("milk", "pour")
    np.testing.assert_array_equal(table.vectors, [[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("milk 1 2\npour 1\n", "v.txt, line 2: 1 numbers; expected 2"),
        ("milk one two\n", "v.txt, line 1: found 'milk one two"),
        ("milk nan 1\n", "word 1 .'milk'.: a number that is not finite"),
        ("\n", "line 1: 0 numbers"),
    ],
)
def test_invalid_word_vectors_are_rejected(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "v.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        read_word_vectors(tmp_path / "v.txt")


def test_words_and_vectors_of_unequal_length_are_rejected(tmp_path: Path) -> None:
    write_word_vectors(tmp_path / "v.npy", small_table())
    (tmp_path / "v.words.txt").write_text("milk\n")
    with pytest.raises(InputError, match="for 1 words; expected one row per word"):
        read_word_vectors(tmp_path / "v.npy")
    (tmp_path / "v.words.txt").unlink()
    with pytest.raises(InputError, match=r"v\.words\.txt is missing in its folder"):
        read_word_vectors(tmp_path / "v.npy")


@given(data=st.binary(max_size=200))
@settings(max_examples=50, deadline=None)
def test_arbitrary_bytes_are_rejected_as_learned_encoder(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.mktemp("bytes") / "e.safetensors"
    file.write_bytes(data)
    with pytest.raises(InputError, match="expected"):
        read_learned(file)


def test_missing_encoder_file_is_reported() -> None:
    for name in ("max-pooled", "learned"):
        with pytest.raises(InputError, match="no file given; expected --encoder-file"):
            open_encoder(name)
    with pytest.raises(InputError, match="encoder 'bert' is unknown; expected one of tfidf, max-pooled, learned, sentence"):
        open_encoder("bert")


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"needs the extra 'sentence': .+ -m pip install .+\[sentence\]"):
        SentenceEncoder(Path(__file__).parent).encode(["milk"])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="sentence"):
        open_encoder("sentence")
    assert open_encoder("tfidf", None, DOCUMENTS).encode(["milk"]).any()


def test_invalid_sentence_model_is_rejected(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="the extra 'sentence' is not installed")
    with pytest.raises(InputError, match="no such folder"):
        load_sentence_transformer("/no/such/folder")
    with pytest.raises(InputError, match="cannot be loaded"):
        load_sentence_transformer(str(tmp_path))
