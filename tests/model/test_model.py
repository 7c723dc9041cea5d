import json
import struct
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load

from crosstask.features import FeaturesInMemory, write_feature_spec, write_rows
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.hmm_ensemble import HmmEnsemble
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.model.file import load_model, save_model
from crosstask.model.model import Model
from crosstask.records import InputError, VideoKey, task_from_steps
from crosstask.storage import UnreadableFile, digest_of, with_content_digest
from tiny import tiny_corpus

QUICK = AlternationSettings(learning_rate=0.01, dropout=0.0, initial_epochs=5, epochs=5)


@pytest.fixture(scope="module")
def model():
    corpus = tiny_corpus()
    scorer = Zhukov19(settings=QUICK).fit(corpus, np.random.default_rng(0))
    trained = frozenset(video.key for video in corpus.videos)
    return Model(scorer, corpus.tasks, "zhukov19", "toy", trained, {"epochs": 5}, 3)


def test_a_model_is_not_saved_over_a_file_of_another_kind(model, tmp_path):
    (tmp_path / "corpus.toml").write_text('[tasks.latte]\nsteps = ["pour milk"]\n')
    with pytest.raises(InputError, match=r"corpus.toml: a file of another kind, which would be overwritten"):
        save_model(model, tmp_path / "corpus.toml")
    assert "pour milk" in (tmp_path / "corpus.toml").read_text()


def test_models_encoders_and_weights_of_others_do_not_overwrite_each_other(model, tmp_path):
    from safetensors.numpy import save_file

    from crosstask.text.encoders.learned import LearnedEncoder, Parameters, write_learned
    from crosstask.text.encoders.word_vectors import WordVectors

    part = np.zeros((2, 2), np.float32)
    encoder = LearnedEncoder(WordVectors(("pour", "milk"), part), Parameters(part, part[0], part, part[0]))
    ours, learned, clip = (tmp_path / f"{name}.safetensors" for name in ("model", "encoder", "clip"))
    for _ in range(2):
        save_model(model, ours)
    write_learned(learned, encoder, {})
    write_learned(learned, encoder, {})
    save_file({"clip.weight": part}, clip)
    for write, places in (
        (lambda p: save_model(model, p), (learned, clip)),
        (lambda p: write_learned(p, encoder, {}), (ours, clip)),
    ):
        for place in places:
            before = place.read_bytes()
            with pytest.raises((InputError, UnreadableFile), match="of another kind, which would be overwritten"):
                write(place)
            assert place.read_bytes() == before


def test_a_model_comes_back_whole(model, tmp_path):
    again = load_model(save_model(model, tmp_path / "m.safetensors"))
    assert again.tasks == model.tasks and again.trained_on == model.trained_on and again.seed == 3
    assert (again.method, again.feature_spec, again.settings) == ("zhukov19", "toy", {"epochs": 5})
    assert VideoKey("1", "-v1_0") in again.trained_on
    features = tiny_corpus().features.rows("-v1_2")
    assert np.array_equal(again.score(model.tasks["1"], features), model.score(model.tasks["1"], features))
    assert again.localize(features, model.tasks["1"]) == model.localize(features, "1")


def test_a_model_of_features_with_a_constant_column_comes_back(tmp_path):
    corpus = tiny_corpus()
    rows = {v: np.hstack([corpus.features.rows(v), np.ones((len(corpus.features.rows(v)), 1))]) for v in corpus.features}
    scorer = HiddenMarkovModel().fit(replace(corpus, features=FeaturesInMemory(rows)), np.random.default_rng(0))
    again = load_model(save_model(Model(scorer, corpus.tasks, "hmm", "toy"), tmp_path / "m.safetensors"))
    assert np.isinf(scorer.to_arrays()[0]["unit"][-1]) and np.isfinite(again.score(corpus.tasks["1"], rows["-v1_2"])).all()


def test_a_model_with_the_thresholds_of_version_01_loads_and_unknown_settings_name_the_reason(tmp_path, monkeypatch):
    corpus = tiny_corpus()
    model = Model(HiddenMarkovModel().fit(corpus, np.random.default_rng(0)), corpus.tasks, "hmm", "toy")
    arrays, values = model.scorer.to_arrays()
    thresholds = {"habits.0000.least": np.full(3, -np.inf, np.float32)}
    monkeypatch.setattr(HmmEnsemble, "to_arrays", lambda scorer: (arrays | thresholds, values))
    rows = corpus.features.rows("-v1_2")
    again = load_model(save_model(model, tmp_path / "old.safetensors"))
    assert np.allclose(again.score(corpus.tasks["1"], rows), model.score(corpus.tasks["1"], rows), atol=1e-4)
    former = values | {"em_settings": {**values["em_settings"], "initial_weight": 1.0}}
    monkeypatch.setattr(HmmEnsemble, "to_arrays", lambda scorer: (arrays, former))
    with pytest.raises(InputError, match="setting 'initial_weight' is unknown, so another version of crosstask wrote it"):
        load_model(save_model(model, tmp_path / "other.safetensors"))


def test_saving_twice_gives_the_same_bytes(model, tmp_path):
    first = save_model(model, tmp_path / "a").read_bytes()
    assert first == save_model(load_model(tmp_path / "a"), tmp_path / "b").read_bytes()


def test_renaming_the_order_of_tasks_changes_no_score():
    corpus = tiny_corpus()
    turned = corpus.only(reversed(corpus.videos))
    object.__setattr__(turned, "tasks", dict(reversed(corpus.tasks.items())))
    rows = corpus.features.rows("-v1_2")
    first, second = (Zhukov19(settings=QUICK).fit(c, np.random.default_rng(1)) for c in (corpus, turned))
    assert np.array_equal(first.score(corpus.tasks["1"], rows), second.score(corpus.tasks["1"], rows))


def test_a_short_video_and_bad_numbers_are_refused(model):
    task = task_from_steps("pour milk, stir, pour coffee")
    with pytest.raises(InputError, match="2 segments cannot hold 3 steps"):
        model.localize(np.zeros((2, 6)), task)
    with pytest.raises(InputError, match="NaN or infinity"):
        model.localize(np.full((9, 6), np.nan), task)
    with pytest.raises(InputError, match="trained on 6 columns"):
        model.localize(np.zeros((9, 5)), task)


def rewritten(path, change):
    """The model file with its description changed."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    description = json.loads(header["__metadata__"]["crosstask"])
    change(description)
    header["__metadata__"]["crosstask"] = json.dumps(with_content_digest(description, load(data)))
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])
    return path


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.update(format=99), "format 99"),
        (lambda d: d.pop("tasks"), "damaged"),
        (lambda d: d.update(kind="exec"), "damaged"),
        (lambda d: d.update(settings=[1]), "damaged"),
        (lambda d: d["tasks"][0].update(steps="pour"), "steps are a str"),
        (lambda d: d["values"]["components"].pop(), "does not fit its weights"),
        (lambda d: d.update(trained_on=["x"]), "does not name a video"),
    ],
)
def test_damaged_descriptions_are_refused(model, tmp_path, change, says):
    path = rewritten(save_model(model, tmp_path / "m"), change)
    with pytest.raises(InputError, match=says):
        load_model(path)


def test_files_of_others_are_refused(tmp_path, model):
    from safetensors.numpy import save_file

    save_file({"x": np.zeros(3)}, tmp_path / "other")
    with pytest.raises(InputError, match="another program"):
        load_model(tmp_path / "other")
    whole = save_model(model, tmp_path / "m").read_bytes()
    for cut in (0, 5, 100, len(whole) - 3):
        (tmp_path / "cut").write_bytes(whole[:cut])
        with pytest.raises(InputError, match="not a crosstask model"):
            load_model(tmp_path / "cut")


def test_a_flipped_bit_in_a_model_file_is_noticed(tmp_path):
    corpus = tiny_corpus()
    path = save_model(Model(Zhukov19().fit(corpus, np.random.default_rng(0)), corpus.tasks), tmp_path / "m.safetensors")
    data = bytearray(path.read_bytes())
    data[-3] ^= 4
    path.write_bytes(data)
    with pytest.raises(InputError, match="do not match their checksum"):
        load_model(path)


def test_flipped_bits_anywhere_in_a_model_file_are_noticed(model, tmp_path):
    path = save_model(model, tmp_path / "m")
    whole = path.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    rng = np.random.default_rng(0)
    changed = []
    for bit in rng.choice(8 * (8 + length), 1000, replace=False).tolist():
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        try:
            again = load_model(path)
        except InputError:
            continue
        if save_model(again, tmp_path / "again").read_bytes() != whole:
            changed.append(bit)
    assert changed == []


@pytest.mark.parametrize("bit", range(7))
def test_a_damaged_name_of_the_digest_is_no_missing_digest(model, tmp_path, bit):
    path = save_model(model, tmp_path / "m")
    data = bytearray(path.read_bytes())
    data[data.find(b"content_digest") + 9] ^= 1 << bit
    path.write_bytes(data)
    with pytest.raises(InputError):
        load_model(path)


def test_a_model_file_of_version_0_1_without_a_digest_of_its_description_still_loads(model, tmp_path):
    path = save_model(model, tmp_path / "m")
    whole = path.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    header = json.loads(whole[8 : 8 + length])
    description = json.loads(header["__metadata__"]["crosstask"])
    del description["content_digest"]
    for digests in ({"digest": digest_of(load(whole))}, {}):
        header["__metadata__"]["crosstask"] = json.dumps(description | digests)
        text = json.dumps(header).encode()
        path.write_bytes(struct.pack("<Q", len(text)) + text + whole[8 + length :])
        assert save_model(load_model(path), tmp_path / "again").read_bytes() == whole


def test_a_model_knows_its_training_videos_of_tasks_with_an_underscore(model, tmp_path):
    """As in the five tasks of Alayrac et al.; `evaluate` counts the videos that were trained on."""
    tasks = {"jump_car": replace(model.tasks["1"], id="jump_car"), "jump": replace(model.tasks["2"], id="jump")}
    trained = frozenset({VideoKey("jump_car", "a_1"), VideoKey("jump", "b")})
    save_model(replace(model, tasks=tasks, trained_on=trained), tmp_path / "m.safetensors")
    assert load_model(tmp_path / "m.safetensors").trained_on == trained


def test_a_feature_file_of_another_spec_is_refused(model, tmp_path):
    known = replace(model, feature_spec="light")
    path = write_rows(tmp_path / "a.npy", np.ones((20, 6), np.float32))
    for written in (None, "light"):
        if written:
            write_feature_spec(tmp_path, written)
        known.localize(path, task="1")
    write_feature_spec(tmp_path, "log-mel")
    with pytest.raises(InputError, match="features are 'log-mel' but the model was trained on 'light'"):
        known.localize(path, task="1")
    replace(model, feature_spec="unknown").localize(path, task="1")


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([[1.0, 2.0]], "a list is not an array"),
        (np.empty((0, 4), np.float32), r"shape \(0, 4\)"),
        (np.full((9, 4), np.nan, np.float16), "NaN or infinity"),
    ],
)
def test_score_refuses_what_is_no_array_of_finite_features(model, features, message):
    with pytest.raises(InputError, match=message):
        model.score("1", features)


def test_a_title_of_two_tasks_is_refused(model):
    again = replace(model, tasks={**model.tasks, "copy": replace(model.tasks["1"], id="copy")})
    with pytest.raises(InputError, match="is the title of 2 tasks; expected an id: 1, copy"):
        again.task_named(model.tasks["1"].title)
    assert again.task_named("copy").id == "copy"


def test_the_ending_of_a_feature_file_may_be_in_capitals_and_an_archive_is_named(model, tmp_path):
    rows = tiny_corpus().features.rows("-v1_2")
    np.savez(tmp_path / "v.npz", rows)
    write_rows(tmp_path / "v.NPY", rows)
    assert model.localize(tmp_path / "v.NPY", "1").steps == model.localize(rows, "1").steps
    with pytest.raises(InputError, match="an archive of arrays; expected features"):
        model.localize(tmp_path / "v.npz", "1")
