"""Image-text features through the verbs: extract, evaluate, train, localize, with a small model made on the spot."""

import json
import shutil

import numpy as np
import pytest

from cli.running import crosstask, json_of, refused
from crosstask.datasets import open_corpus
from crosstask.extraction.feature_spec import parse_feature_spec
from crosstask.features import find_text_side
from crosstask.pipeline.extract import extract_corpus, store_text_side
from image_text_models import make_model

pytest.importorskip("av", reason="extra video is not installed")
pytest.importorskip("transformers", reason="extra sentence is not installed")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A corpus of two short videos, extracted by a CLIP folder."""
    from extraction.media import write_video

    folder = tmp_path_factory.mktemp("place")
    clip = make_model(folder / "clip")
    corpus = folder / "corpus"
    for name in ("a", "b"):
        write_video(corpus / "videos" / "tea" / f"{name}.mp4", 6)
    (corpus / "corpus.toml").write_text('[tasks.tea]\ntitle = "Make tea"\nsteps = ["pour water", "add sugar"]\n')
    (corpus / "annotations").mkdir()
    for name in ("a", "b"):
        (corpus / "annotations" / f"tea_{name}.csv").write_text("1,1,2\n2,4,5\n")
    found = json_of("extract", corpus, "--features", f"clip={clip}")
    assert found["done"] == 2 and found["recipe"].startswith("clip:clip#")
    return folder


def test_the_corpus_knows_the_text_side_of_its_features(place):
    corpus = open_corpus(place / "corpus")
    side = corpus.text_side
    assert side.model == corpus.feature_spec and sorted(side.vectors) == ["add sugar", "pour water"]
    assert corpus.features.rows("a").shape == (6, 16) and str(place) not in corpus.feature_spec


def test_zero_shot_evaluates_without_training(place):
    assert 0 <= json_of("evaluate", place / "corpus", "--method", "zero-shot")["recall"]["mean"] <= 1


def test_a_trained_model_localizes_new_steps_once_it_knows_the_folder(place, tmp_path):
    model, video = tmp_path / "model.safetensors", place / "corpus" / "videos" / "tea" / "a.mp4"
    assert crosstask("train", place / "corpus", "--method", "zero-shot", "--out", model).returncode == 0
    clip = f"clip={place / 'clip'}"
    (found,) = json_of("localize", model, video, "--steps", "stir, pour milk", "--features", clip)
    assert [step["step"] for step in found["steps"]] == ["stir", "pour milk"]
    assert "--features clip=FOLDER" in refused("localize", model, video, "--steps", "stir, pour milk")
    rows = tmp_path / "a.npy"
    np.save(rows, open_corpus(place / "corpus").features.rows("a"))
    assert len(json_of("localize", model, rows, "--task", "tea")[0]["steps"]) == 2, "stored names need no folder"
    assert "step 'pour milk': its vector" in refused("localize", model, rows, "--steps", "stir, pour milk")
    other = make_model(tmp_path / "other", seed=1)
    assert "the model was trained on" in refused("localize", model, video, "--task", "tea", "--features", f"clip={other}")


def test_a_video_is_localized_without_any_model_file(place):
    video = place / "corpus" / "videos" / "tea" / "a.mp4"
    (found,) = json_of("localize", video, "--steps", "stir, pour milk", "--features", f"clip={place / 'clip'}")
    assert len(found["steps"]) == 2
    assert "no text side" in refused("localize", video, "--steps", "stir", "--features", "light")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda clip: (clip / "model.safetensors").rename(clip / "pytorch_model.bin"), "is pickled, which is never loaded"),
        (lambda clip: (clip / "config.json").unlink(), "not a model: no config.json"),
        (lambda clip: (clip / "tokenizer.json").unlink(), "tokenizer"),
    ],
)
def test_a_bad_folder_is_one_line(place, tmp_path, damage, says):
    clip = shutil.copytree(place / "clip", tmp_path / "clip")
    damage(clip)
    assert says in refused("extract", place / "corpus", "--features", f"clip={clip}", "--out", tmp_path / "out")


def test_an_unknown_device_is_one_line(place, tmp_path):
    line = refused(
        "extract", place / "corpus", "--features", f"clip={place / 'clip'}", "--device", "tpu", "--out", tmp_path / "o"
    )
    assert "--device tpu: unknown" in line


def test_names_are_kept_and_other_features_remove_the_text_side(place, tmp_path):
    spec = parse_feature_spec(f"log-mel,clip={place / 'clip'}")
    store_text_side(tmp_path, spec, ["stir"])
    store_text_side(tmp_path, spec, ["pour milk"])
    side = find_text_side(tmp_path)
    assert sorted(side.vectors) == ["pour milk", "stir"] and side.first == 128
    store_text_side(tmp_path, parse_feature_spec("log-mel"), ["stir"])
    assert find_text_side(tmp_path) is None


def test_the_same_bytes_again(place):
    corpus = open_corpus(place / "corpus")
    spec = parse_feature_spec(f"clip={place / 'clip'}")
    before = {
        path.name: path.read_bytes() for path in (place / "corpus" / ".crosstask" / "features").glob("*.*") if path.is_file()
    }
    report, folder = extract_corpus(corpus, spec, place / "again")
    assert len(report.done) == 2
    assert {path.name: path.read_bytes() for path in folder.glob("*.*") if path.is_file() and path.name in before} == before
    assert json.loads((folder / ".done" / "a.json").read_text())


def test_features_of_other_videos_in_a_chosen_folder_are_neither_removed_nor_overwritten(tmp_path):
    from extraction.media import write_video

    a, b, other = (write_video(tmp_path / name, seconds) for name, seconds in (("a.mp4", 2), ("b.mp4", 3), ("new/a.mp4", 4)))
    out = tmp_path / "out"
    assert json_of("extract", a, b, "--features", "log-mel", "--out", out)["done"] == 2
    before = {path.name: path.read_bytes() for path in out.glob("*.npy")}
    said = refused("extract", a, "--features", "light", "--out", out)
    assert "holds features 'log-mel' of other videos, such as b, which would be removed; choose another --out" in said
    said = refused("extract", other, "--features", "log-mel", "--out", out)
    assert f"a.npy: holds the features of {a}, another video of that name; choose another --out" in said
    assert {path.name: path.read_bytes() for path in out.glob("*.npy")} == before
    write_video(a, 5)
    assert json_of("extract", a, "--features", "log-mel", "--out", out)["done"] == 1, "the same file with other content"
    moved = a.rename(tmp_path / "away.mp4")  # such as a disk that is not mounted
    assert f"a.npy: holds the features of {a}" in refused("extract", other, "--features", "log-mel", "--out", out)
    moved.replace(other)
    assert json_of("extract", other, "--features", "log-mel", "--out", out)["skipped"] == {}, "the video was moved"
