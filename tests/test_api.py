"""The public Python API: what a user of scikit-learn or whisper would type first works, and wrong input is one clear error."""

import inspect
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

import crosstask as ct
from crosstask.cli.main import app
from crosstask.methods.table import ALIASES, METHODS, method_named
from crosstask.synthetic import write_synthetic
from tiny import tiny_corpus, with_text_side, write_tiny
from viewer.viewed import client_of

OWN = '''
"""A method and a sharing function of a user's own."""
from dataclasses import dataclass
import numpy as np

@dataclass(frozen=True)
class Middle:
    """Every step near the middle of the video, in order."""
    def fit(self, corpus, rng):
        return self
    def score(self, task, features):
        t = np.arange(len(features))[:, None] / len(features)
        return -np.abs(t - 0.5 - 0.01 * np.arange(len(task.steps)))

class NoFit:
    pass

def verbs(task, step):
    return [step.split()[0]]

def nothing(task, step):
    return []
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    write_tiny(folder, videos_per_task=6)
    return folder


@pytest.fixture(scope="module")
def corpus(folder):
    return ct.open_corpus(str(folder))


@pytest.fixture(scope="module")
def model(corpus):
    return ct.train(corpus)


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    return path


def run(*arguments):
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_public_names_are_listed_documented_and_no_subpackage_hides_one():
    assert set(dir(ct)) == set(ct.__all__)
    source = Path(ct.__file__).parent
    for name in ct.__all__:
        found = getattr(ct, name)
        assert not (source / name).is_dir(), f"{name} shares its name with a subpackage"
        if callable(found) and not name.startswith("_"):
            assert inspect.getdoc(found), name
    assert (source / "py.typed").exists()
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = ct.nonsense


def test_the_first_snippet(corpus, model, tmp_path):
    rows = corpus.features.rows("-v1_1")
    found = model.localize(rows, task="1")
    assert [step.name for step in found.steps] == list(corpus.tasks["1"].steps) and isinstance(found.steps, list)
    for step in found.steps:
        assert step.start_s <= step.moment_s < step.end_s
        assert 0 <= step.confidence <= 1 and 0 <= step.p_shown <= 1 and isinstance(step.shown, bool)
    again = ct.load_model(str(model.save(str(tmp_path / "m.safetensors"))))
    for one, two in zip(again.localize(rows, task="1").steps, found.steps, strict=True):
        assert one.moment_s == two.moment_s and one.confidence == pytest.approx(two.confidence, abs=1e-3)
    assert again.localize(rows, steps=["boil milk", "stir coffee"]).steps[0].name == "boil milk"
    assert np.array_equal(model.score("1", rows), model.score(corpus.tasks["1"], rows))


def test_a_feature_file_and_an_array_give_the_same(corpus, model, tmp_path):
    rows = np.asarray(corpus.features.rows("-v1_1"))
    np.save(tmp_path / "x.npy", rows)
    from_file, from_array = model.localize(str(tmp_path / "x.npy"), task="1"), model.localize(rows, task="1")
    assert from_file.steps == from_array.steps and from_file.video == "x"


def test_reprs_are_short(corpus, model):
    evaluation = ct.evaluate(model, corpus)
    found = model.localize(corpus.features.rows("-v1_1"), task="1")
    comparison = ct.compare(corpus, ["uniform", "random"], runs=2, split_by="paper", train_videos=3)
    for thing in (corpus, model, evaluation, found, comparison):
        assert len(repr(thing).splitlines()) < 10 and len(repr(thing)) < 1500, type(thing)
    for thing in (corpus, model, evaluation, found):
        assert thing._repr_html_().startswith("<table>")
    assert "<b>" not in ct.Localization("<b>", "<b>", [])._repr_html_()


def test_evaluations_have_fractions_by_task(corpus, model):
    evaluation = ct.evaluate(model, corpus)
    for metric in ("recall", "map", "f1", "start_5s", "iou"):
        assert 0 <= getattr(evaluation, metric) <= 1
        assert evaluation.to_json()[metric]["mean"] == pytest.approx(getattr(evaluation, metric))
    assert set(evaluation.by_task) == set(evaluation.to_json()["recall"]["tasks"])
    some = ct.evaluate("uniform", corpus, videos=[str(corpus.videos[0].key)])
    assert some.n_videos == 1


def test_figures_and_dataframes(corpus, model):
    pandas = pytest.importorskip("pandas")
    evaluation, found = ct.evaluate(model, corpus), model.localize(corpus.features.rows("-v1_1"), task="1")
    assert isinstance(evaluation.to_dataframe(), pandas.DataFrame) and len(found.to_dataframe()) == len(found.steps)


def test_plots_are_figures(corpus, model):
    evaluation, found = ct.evaluate(model, corpus), model.localize(corpus.features.rows("-v1_1"), task="1")
    for figure in (evaluation.plot(), found.plot(), ct.Localization("$v", "$x$", [ct.FoundStep("$a", 1, 0, 0, 2)]).plot()):
        figure.savefig(Path("/dev/null"), format="png")
        assert figure.axes


@pytest.mark.parametrize("name", [n for n in METHODS if n != "deep"])
def test_every_method_trains_by_name_and_clones(name, corpus):
    settings = {"initial_epochs": 1, "epochs": 1} if name in ("zhukov19", "task-specific", "supervised") else {}
    corpus = with_text_side(corpus) if name == "zero-shot" else corpus
    trained = ct.train(corpus, name, seed=1, **settings)
    assert trained.method == name
    assert ct.evaluate(trained, corpus).n_videos > 0
    assert clone(method_named(name)) == method_named(name)


def test_aliases_and_integer_seeds(corpus):
    assert {alias: type(method_named(alias)) for alias in ALIASES} == {a: METHODS[m] for a, m in ALIASES.items()}
    quick = method_named("zhukov19", initial_epochs=1, epochs=1)
    a, b = quick.fit(corpus, 3), quick.fit(corpus, np.random.default_rng(3))
    assert np.array_equal(a.parameters, b.parameters)


def test_own_sharing_functions_are_used_and_new_tasks_need_them_again(corpus, tmp_path):
    def verbs(task, step):
        return [step.split()[0]]

    rows, new = corpus.features.rows("-v1_1"), ["boil tea", "stir tea"]
    for method, settings in (("hmm", {}), ("zhukov19", {"initial_epochs": 1, "epochs": 1})):
        trained = ct.train(corpus, method, sharing=verbs, **settings)
        by_step = ct.train(corpus, method, sharing="step", **settings)
        assert not np.allclose(trained.score("1", rows), by_step.score("1", rows)), "a function is not treated as 'step'"
        path = trained.save(tmp_path / f"{method}.safetensors")
        again = ct.load_model(path)
        assert np.allclose(again.score("1", rows), trained.score("1", rows), atol=1e-3)
        with pytest.raises(ct.InputError, match="sharing function"):
            again.localize(rows, steps=new)
        with pytest.raises(ct.InputError, match="trained with the sharing 'verbs', not '<lambda>'"):
            ct.load_model(path, sharing=lambda task, step: [step])
        with pytest.raises(ct.InputError, match="a trained model, and no checkpoint; expected a new name"):
            ct.train(corpus, method, checkpoint=path, **settings)
        with_function = ct.load_model(path, sharing=verbs)
        assert np.allclose(
            with_function.score(ct.task_from_steps(new), rows), trained.score(ct.task_from_steps(new), rows), atol=1e-3
        )


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda c, m: ct.open_corpus("nowhere"), "no such folder"),
        (lambda c, m: ct.train("folder"), "a str is not a corpus"),
        (lambda c, m: ct.train(c, "magic"), "method 'magic' is unknown; expected one of hmm"),
        (lambda c, m: ct.train(c, "zhukov"), "did you mean 'zhukov19'"),
        (lambda c, m: ct.train(c, 7), "a int is not a method"),
        (lambda c, m: ct.train(c, learning_rate=1.0), "method 'hmm' has no setting 'learning_rate'"),
        (lambda c, m: ct.train(c, "zhukov19", dropout=7), "dropout is 7; expected a number from 0 to below 1"),
        (lambda c, m: ct.train(c, sharing="words"), "sharing 'words' is unknown; expected one of component"),
        (lambda c, m: ct.train(c, sharing=lambda task, step: []), "expected at least one name"),
        (lambda c, m: ct.train(c, videos=["1_nobody"]), "1_nobody is not in corpus"),
        (lambda c, m: ct.train(c.only([])), "no videos are listed"),
        (lambda c, m: ct.evaluate("hmm", c), "must be trained first"),
        (lambda c, m: ct.evaluate(object(), c), "cannot be evaluated"),
        (lambda c, m: ct.load_model("nowhere"), "no such model file"),
        (lambda c, m: ct.load_model("."), "a folder; expected a model file, such as the model.safetensors of a run folder"),
        (lambda c, m: ct.load_model("/dev/null"), "a pipe or device; expected a model file"),
        (lambda c, m: m.localize(np.zeros((9, 5)), task="1"), "trained on 6 columns"),
        (lambda c, m: m.localize(np.zeros(9), task="1"), "expected features"),
        (lambda c, m: m.localize(3, task="1"), "a int is not a video"),
        (lambda c, m: m.localize("gone.mp4", task="1"), "no such file"),
        (lambda c, m: m.localize(np.zeros((9, 6))), "either a task, or steps"),
        (lambda c, m: m.localize(np.zeros((9, 6)), task="Make Ltte"), "is not in the model"),
        (lambda c, m: m.localize(np.zeros((9, 6)), steps=[1, 2]), "expected step names"),
        (
            lambda c, m: replace(m, feature_spec="mine: 2").localize(__file__, task="1"),
            r"features \('mine: 2'\) cannot be made from a",
        ),
        (lambda c, m: ct.compare(c, ["uniform", "uniform"]), "each with its own name"),
        (lambda c, m: ct.open_corpus(7), "7: a int is not a path; expected the folder of a corpus"),
        (lambda c, m: ct.open_corpus("a\0b"), "cannot be a path; expected the folder of a corpus"),
        (lambda c, m: ct.load_model(b"x"), "a bytes is not a path; expected a model file"),
        (lambda c, m: m.save(None), "a NoneType is not a path; expected the model file to write"),
        (lambda c, m: m.save("\ud800"), "cannot be a path"),
        (lambda c, m: m.save(""), "cannot be a path"),
        (lambda c, m: m.save("."), "a folder; expected the name of a model file"),
        (lambda c, m: m.save(__file__), "a file of another kind, which would be overwritten"),
        (
            lambda c, m: ct.train(c, start=ct.train(c, "uniform")),
            "a model of method 'uniform', whose training cannot be continued",
        ),
        (lambda c, m: ct.run([]), "a list is not a path; expected a folder with corpus.toml"),
        (lambda c, m: ct.localize(3, steps="pour milk"), "a int is not a path; expected a video or subtitle file"),
        (lambda c, m: ct.localize("talk.vtt", steps=None), "steps None: expected text such as"),
        (lambda c, m: ct.localize("talk.vtt", steps="pour \ud800"), "holds half of a character"),
        (lambda c, m: ct.train(c, "uniform", seed=None), "seed is None; expected a whole number of at least 0"),
        (lambda c, m: ct.train(c, "uniform", seed=-1), "seed is -1"),
        (lambda c, m: ct.train(c, "zhukov19", epochs=1.5), "epochs is 1.5; expected a whole number from 0 to 1000000000"),
        (lambda c, m: ct.train(c, "zhukov19", epochs=10**400), "expected a whole number from 0 to 1000000000"),
        (lambda c, m: ct.train(c, "zhukov19", learning_rate="fast"), "learning_rate is 'fast'; expected a finite number"),
        (lambda c, m: ct.train(c, "zhukov19", learning_rate=10**400), "expected a finite number"),
        (lambda c, m: ct.train(c, "zhukov19", per_segment="no"), "per_segment is 'no'; expected True or False"),
        (lambda c, m: ct.evaluate("uniform", "kitchen"), "a str is not a corpus"),
        (lambda c, m: ct.evaluate(m, c, decoder="nosuch"), "decoder 'nosuch' is unknown; expected one of once"),
        (lambda c, m: m.localize(np.zeros((9, 6)), task="1", decoder=[]), r"decoder \[\] is unknown"),
        (lambda c, m: m.localize(np.zeros((9, 6)), task=["1"]), "is not in the model"),
        (lambda c, m: m.localize(np.zeros((9, 6)), steps=np.zeros(3)), "expected step names"),
        (lambda c, m: m.localize(np.zeros((9, 6)), steps={"pour milk", "stir"}), "or a list of step names"),
        (lambda c, m: ct.evaluate("uniform", c, videos=[3]), "'3' does not name a video"),
        (lambda c, m: ct.compare("kitchen", ["uniform"]), "a str is not a corpus"),
        (lambda c, m: ct.compare(c, 7), "methods 7: expected a list"),
        (lambda c, m: ct.compare(c, "hmm"), "methods 'hmm': expected a list"),
        (lambda c, m: ct.compare(c, ["uniform"], runs=-1), "runs is -1; expected a whole number from 1"),
        (lambda c, m: ct.compare(c, ["uniform"], train_videos=None), "train_videos is None"),
        (lambda c, m: ct.Task("1", "Make Latte", "pour milk"), "steps are a str; expected step names in a list"),
        (lambda c, m: ct.Task("1", "Make Latte", 7), "steps are a int; expected step names in a list"),
        (lambda c, m: ct.task_from_steps(7), "steps 7: expected text such as"),
    ],
)
def test_wrong_input_is_one_clear_error(call, says, corpus, model):
    with pytest.raises(ct.InputError, match=says):
        call(corpus, model)


def test_what_verbs_print_equals_what_the_api_returns(folder, corpus, model, tmp_path):
    path, rows = tmp_path / "m.safetensors", tmp_path / "x.npy"
    np.save(rows, np.asarray(corpus.features.rows("-v1_1")))
    assert run("train", folder, "--out", path, "--json")["videos"] == len(model.trained_on)
    assert path.read_bytes() == model.save(tmp_path / "api.safetensors").read_bytes()
    assert run("evaluate", folder, "--model", path, "--json") == ct.evaluate(model, corpus).to_json()
    assert run("evaluate", folder, "--method", "uniform", "--json") == ct.evaluate("uniform", corpus).to_json()
    found = run("localize", path, rows, "--task", "1", "--json")
    assert found == [ct.load_model(path).localize(rows, task="1").to_json()]
    assert run("localize", rows, "--model", path, "--steps", "boil milk; stir", "--json")[0]["steps"][1]["step"] == "stir"
    about = run("info", path, "--json")
    assert about["method"] == "hmm" and about["training_videos"] == len(model.trained_on) and about["vocabulary"] > 3


def test_a_method_from_a_file_goes_through_every_verb(folder, own, tmp_path):
    mine = f"{own}:Middle"
    assert 0 <= run("evaluate", folder, "--method", mine, "--json")["recall"]["mean"] < 1
    out = tmp_path / "table"
    summary = run(
        "experiment",
        "cross-task",
        folder,
        "--methods",
        f"hmm,{mine},uniform",
        "--runs",
        2,
        "--train-videos",
        3,
        "--out",
        out,
        "--json",
    )
    assert set(summary["results"]) == {"hmm", "Middle", "uniform"} and "hmm - Middle" in summary["differences"]
    assert "Middle" in (out / "table.tex").read_text() and (out / "run.json").exists()
    page = client_of(out)  # of the viewer
    assert "Middle" in page.get("/api/run").text and page.get("/api/videos").json()["videos"]
    kept = sorted((out / "jobs").glob("Middle-*"))
    before = [path.read_text() for path in kept]
    own.write_text(OWN.replace("0.01 *", "0.02 *"))  # an edited method is run anew
    run(
        "experiment",
        "cross-task",
        folder,
        "--methods",
        f"hmm,{mine},uniform",
        "--runs",
        2,
        "--train-videos",
        3,
        "--out",
        out,
        "--json",
    )
    assert [path.read_text() for path in kept] != before


def test_a_sharing_function_from_a_file(folder, own, tmp_path):
    path = tmp_path / "m.safetensors"
    run("train", folder, "--out", path, "--sharing", f"{own}:verbs", "--json")
    assert run("info", path, "--json")["settings"]["sharing"] == "verbs"
    np.save(tmp_path / "x.npy", np.asarray(ct.open_corpus(folder).features.rows("-v1_1")))
    found = run("localize", path, tmp_path / "x.npy", "--steps", "boil tea; stir", "--sharing", f"{own}:verbs", "--json")
    assert len(found[0]["steps"]) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--method", "MINE:NoFit"], "has no fit"),
        (["--method", "MINE:Gone"], "defines no 'Gone'"),
        (["--method", "gone.py:Mine"], "no such file"),
        (["--method", "hmm", "--recipe", "paper"], "contradicts --recipe paper"),
        (["--method", "magic"], "is unknown"),
        (["--sharing", "MINE:nothing"], "expected at least one name"),
    ],
)
def test_code_of_ones_own_is_refused_with_the_reason(folder, own, tmp_path, arguments, says):
    given = [a.replace("MINE", str(own)) for a in arguments]
    with pytest.raises(ct.InputError, match=says):
        CliRunner().invoke(app, ["train", str(folder), "--out", str(tmp_path / "m"), *given], catch_exceptions=False)


def test_a_model_file_never_imports_code(corpus, own, tmp_path, monkeypatch):
    path = ct.train(corpus, sharing=lambda task, step: [step.split()[0]]).save(tmp_path / "m.safetensors")
    monkeypatch.setattr("crosstask.methods.own_code.load_own", lambda name: pytest.fail("loaded code"))
    assert ct.load_model(path).settings["sharing"] == "<lambda>"


def test_a_scorer_that_cannot_be_saved_can_be_compared(corpus, tmp_path):
    trained = ct.train(corpus, "random")
    with pytest.raises(ct.InputError, match="cannot be saved"):
        trained.save(tmp_path / "m.safetensors")
    assert ct.compare(tiny_corpus(videos_per_task=5), ["random", "uniform"], runs=2, train_videos=3).differences


def test_synthetic_corpora_open_like_any(tmp_path):
    folder = write_synthetic(tmp_path / "made", "small", "easy", 0, 8)
    assert "tasks" in repr(ct.open_corpus(folder))


def test_own_features_beside_corpus_toml_need_no_video_files(tmp_path, corpus):
    folder = tmp_path / "own"
    (folder / "features").mkdir(parents=True)
    tasks = {"latte": corpus.tasks["1"], "tea": corpus.tasks["2"]}
    blocks = [f'[tasks.{name}]\ntitle = "{task.title}"\nsteps = {json.dumps(list(task.steps))}\n' for name, task in tasks.items()]
    (folder / "corpus.toml").write_text("\n".join(blocks))
    lines = []
    for name, task in tasks.items():
        for video in corpus.videos_of(task.id):
            np.save(folder / "features" / f"{video.id}.npy", np.asarray(corpus.features.rows(video.id)))
            lines.append(f"{name},{video.id},")
    (folder / "videos.csv").write_text("\n".join(lines) + "\n")
    done = ct.run(folder, transcribe=False)
    assert len(done.localized) == len(lines) and not done.skipped and "run folder" in repr(done)
    shown = CliRunner().invoke(app, ["export", str(folder / "run"), "--format", "csv", "--out", str(tmp_path / "e")])
    assert shown.exit_code == 0, shown.output


@pytest.mark.skipif("CROSSTASK_DATA" not in os.environ, reason="CROSSTASK_DATA is not set")
def test_a_feature_file_of_breakfast(tmp_path):
    real = Path(os.environ["CROSSTASK_DATA"]) / "breakfast"
    corpus = ct.open_corpus(real)
    first = [video for video in corpus.videos if video.id.startswith(("P16", "P17", "P18"))]
    model = ct.train(replace(corpus.only(first), folder=None), seed=0)
    video = next(v for v in corpus.videos if v.id.startswith("P20"))
    found = model.localize(real / "crosstask_features" / f"{video.id}.npy", task=video.task)
    assert [step.name for step in found.steps] == list(corpus.tasks[video.task].steps)
    assert all(step.start_s <= step.moment_s < step.end_s for step in found.steps)


def test_a_video_file(tmp_path):
    pytest.importorskip("av", reason="extra video is not installed")
    from crosstask.synthetic.films.corpus import render_corpus
    from crosstask.synthetic.films.scripts import TASKS

    tested = render_corpus(tmp_path / "films", seed=3, videos_per_task=3, test_videos_per_task=1, tasks=TASKS[:2])
    done = ct.run(tmp_path / "films", features="log-mel", transcribe=False)
    corpus = ct.open_corpus(tmp_path / "films")
    video = next(video for video in corpus.videos if video.key == tested[0])
    found = done.model.localize(str(tmp_path / "films" / video.url), task=video.task)
    assert [s.name for s in found.steps] == list(corpus.tasks[video.task].steps)
    (tmp_path / "m.safetensors").write_bytes((tmp_path / "films" / "run" / "model.safetensors").read_bytes())
    printed = run("localize", tmp_path / "m.safetensors", tmp_path / "films" / video.url, "--task", video.task, "--json")
    assert [s["moment_s"] for s in printed[0]["steps"]] == [s.moment_s for s in found.steps]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda corpus, model: ct.evaluate(model, corpus, videos=5), "videos is 5"),
        (lambda corpus, model: ct.evaluate(model, corpus, videos="1_-v1_0"), "videos is '1_-v1_0'; expected a list"),
        (lambda corpus, model: ct.train(corpus, videos="1_-v1_0"), "videos is '1_-v1_0'; expected a list"),
        (lambda corpus, model: ct.train(corpus, use_annotations=5), "use_annotations is 5"),
        (lambda corpus, model: model.localize(np.zeros((9, 6)), "1", narration=[]), "expected a subtitle file"),
        (lambda corpus, model: ct.run("nowhere", features=5), "features is 5; expected 'default', .*, as text"),
        (lambda corpus, model: ct.run("nowhere", transcribe="no"), "transcribe is 'no'; expected True or False"),
        (lambda corpus, model: ct.run("nowhere", features="light", use_annotations=5), "use_annotations is 5"),
        (lambda corpus, model: ct.train(corpus, videos=[[]]), r"videos lists \[\]"),
        (lambda corpus, model: ct.train(corpus, use_annotations=np.zeros(3)), "is not a training video"),
        (lambda corpus, model: ct.train(corpus, narration="no"), "narration is 'no'; expected True or False"),
        (lambda corpus, model: ct.evaluate(model, corpus, with_narration=np.zeros(3)), "with_narration is array"),
        (lambda corpus, model: ct.train(corpus, videos=[]), "videos is an empty list; expected at least one TASK_VIDEO"),
        (lambda corpus, model: ct.evaluate(model, corpus, videos=[]), "videos is an empty list"),
        (
            lambda corpus, model: ct.compare(corpus, ["hmm"], settings={"hmm": {"nosuch": 1}}),
            "method 'hmm' has no setting 'nosuch'",
        ),
        (
            lambda corpus, model: ct.compare(corpus, ["uniform"], settings={"paper": {"epochs": 1}}),
            "settings of 'zhukov19', which is not compared; expected those of uniform",
        ),
        (lambda corpus, model: ct.compare(corpus, ["uniform"], settings=5), "settings is 5; expected settings by the name"),
        (lambda corpus, model: ct.compare(corpus, ["uniform"], split_by=np.zeros(3)), "split_by array.* is unknown"),
        (lambda corpus, model: ct.localize("a.vtt", "pour", title=np.zeros(3)), "title is array"),
        (lambda corpus, model: ct.localize("a.vtt", "pour", model=5), "model is 5; expected what train or load_model returns"),
        (lambda corpus, model: ct.localize("a.vtt", "pour", language=5), "language is 5; expected a code"),
        (lambda corpus, model: ct.localize("a.vtt", "pour", language="xx"), "language 'xx' is unknown"),
        (lambda corpus, model: ct.localize("a.vtt", "pour", features=5), "features is 5"),
        (lambda corpus, model: model.localize(np.zeros((9, 6)), "1", narration=np.zeros(3)), "expected a subtitle file"),
        (
            lambda corpus, model: model.localize(np.zeros((9, 6)), "1", labels=5),
            "labels has 5; expected StepLabels of the 3 steps",
        ),
        (lambda corpus, model: model.localize(np.zeros((9, 6)), "1", labels=["x"]), "labels has 'x'"),
    ],
)
def test_arguments_of_another_kind_are_named(call, message):
    corpus = tiny_corpus()
    with pytest.raises(ct.InputError, match=message):
        call(corpus, ct.train(corpus))
