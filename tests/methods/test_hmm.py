"""The default method: finds planted steps, scores by the posterior of its parameters, and depends on nothing but data."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.features import FeaturesInMemory
from crosstask.inference.hmm_posterior import hmm_posterior
from crosstask.inference.loose_order_posterior import loose_order_posterior, loose_transitions
from crosstask.learning.hmm.class_means import class_means
from crosstask.learning.hmm.task_prior import even_spacing, initial_prior
from crosstask.learning.hmm.whitening import autocorrelation_time
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.hmm_arrays import window_mask
from crosstask.methods.hmm_file import hmm_from
from crosstask.metrics.truth import annotated_videos
from crosstask.model.file import load_model, save_model
from crosstask.model.model import Model
from crosstask.records import InputError, Interval, StepInterval, task_from_steps
from crosstask.text.word_kernel import class_words, word_kernel
from oracles import chain_of, log_ratios_by_densities, position_log_ratios_by_interpolation
from tiny import tiny_corpus


def fit_one(corpus, **settings):
    """The only member of a model."""
    return HiddenMarkovModel(members=1, **settings).fit(corpus, np.random.default_rng(0)).members[0]


def recall(corpus, scorer):
    return evaluate_videos(corpus, scorer, annotated_videos(corpus)).to_json()["recall"]["mean"]


@pytest.mark.parametrize("windows", [True, False])
def test_planted_steps_are_found_with_and_without_windows(windows):
    corpus = tiny_corpus(videos_per_task=8)
    training = corpus if windows else corpus.without_windows()
    assert recall(corpus, HiddenMarkovModel().fit(training, np.random.default_rng(0))) > 0.9


def test_training_is_deterministic_and_independent_of_the_order_of_tasks_and_videos():
    corpus = tiny_corpus()
    reordered = corpus.only(reversed(corpus.videos))
    object.__setattr__(reordered, "tasks", dict(reversed(corpus.tasks.items())))
    rows = corpus.features.rows("-v1_2")
    first, second = (HiddenMarkovModel().fit(c, np.random.default_rng(i)) for i, c in enumerate((corpus, reordered)))
    assert np.array_equal(first.score(corpus.tasks["1"], rows), second.score(corpus.tasks["1"], rows))


def test_scores_are_invariant_to_scale_and_offset_of_the_features():
    corpus = tiny_corpus()
    scaled = {
        v: corpus.features.rows(v) * np.array([1, 1000, 0.01, 5, 1, 1]) + np.array([0, 7, 100, 0, 0, 0]) for v in corpus.features
    }
    other = replace(corpus, features=FeaturesInMemory(scaled))
    for task in corpus.tasks.values():
        video = next(v for v in corpus.videos if v.task == task.id)
        one = HiddenMarkovModel().fit(corpus, np.random.default_rng(0)).score(task, corpus.features.rows(video.id))
        two = HiddenMarkovModel().fit(other, np.random.default_rng(0)).score(task, scaled[video.id])
        assert np.allclose(one, two, atol=1e-2)


def test_a_saved_model_gives_the_same_scores_also_of_new_tasks(tmp_path):
    corpus = tiny_corpus()
    scorer = HiddenMarkovModel().fit(corpus, np.random.default_rng(0))
    again = load_model(save_model(Model(scorer, corpus.tasks, "best"), tmp_path / "m"))
    rows = corpus.features.rows("-v1_1")
    for task in (corpus.tasks["1"], task_from_steps("boil milk, pour milk, flambé"), corpus.tasks["30"]):
        assert np.allclose(again.score(task, rows), scorer.score(task, rows), atol=1e-3)
    assert again.scorer.unknown_words(task_from_steps("boil milk, flambé")) == ("flambé",)
    assert again.scorer.unknown_steps(task_from_steps("boil milk, flambé")) == ["flambé"]


def expected_scores(scorer, whitened, means, prior, largest_weight):
    """Log of the mean of the strict and the loose posterior, from Gaussian densities and the weighted position of the steps."""
    T = len(whitened)
    ratios = log_ratios_by_densities(whitened, means, scorer.parameters.covariance)
    ratios += position_log_ratios_by_interpolation(prior, T, 10.0, largest_weight)
    a, a_bg, p_background, presence = chain_of(prior, T)
    transitions = loose_transitions(np.full(len(presence), 0.7), 0.05, 0.5)
    loose = loose_order_posterior(ratios, a, a_bg, p_background, transitions)
    return np.log(0.5 * hmm_posterior(ratios, a, a_bg, p_background, presence).in_step + 0.5 * loose + 1e-12)


def test_scores_of_a_trained_task_are_the_log_posterior_of_its_parameters():
    corpus = tiny_corpus(videos_per_task=6)
    scorer = fit_one(corpus)
    names = [name for task in scorer.tasks for name in class_words(task, "component")]
    means = class_means(scorer.parameters.coefficients, word_kernel(names, names), scorer.settings.mean_prior)
    for number, (first, last) in enumerate([(0, 4), (4, 7), (7, 10)]):
        rows = corpus.features.rows(f"-v{scorer.tasks[number].id}_1")
        prior = scorer.parameters.priors[number]
        expected = expected_scores(scorer, scorer.whitening.transform(rows), means[first:last], prior, 0.5)
        assert np.allclose(scorer.score(scorer.tasks[number], rows), expected, atol=2e-3)


class Rhymes:
    """An encoder for which "whip milk" means nearly the same as "pour milk", and nothing else resembles anything."""

    identity = "rhymes"

    def encode(self, sentences):
        rows = np.eye(400, dtype=np.float32)[[sum(map(ord, sentence)) % 399 for sentence in sentences]]
        for row, sentence in zip(rows, sentences, strict=True):
            if sentence == "whip cream":
                row[:] = self.encode(["pour milk"])[0]
        return rows


def test_a_new_step_is_predicted_from_trained_steps_of_like_meaning(tmp_path, monkeypatch):
    corpus = tiny_corpus(videos_per_task=6)
    new = task_from_steps("whip cream, xyz")
    by_words = HiddenMarkovModel().fit(corpus, np.random.default_rng(0))
    for module in ("hmm", "hmm_scorer"):
        monkeypatch.setattr(f"crosstask.methods.{module}.step_name_encoder", Rhymes)
    scorer = HiddenMarkovModel().fit(corpus, np.random.default_rng(0))
    means, by_words_alone = scorer.members[0]._means_and_prior(new)[0], by_words.members[0]._means_and_prior(new)[0]
    milk = scorer.members[0]._means_and_prior(corpus.tasks["1"])[0][0]
    assert not by_words_alone[0].any()  # no word was trained
    assert means[0] @ milk > 0.3 * np.linalg.norm(means[0]) * np.linalg.norm(milk) > 0
    again = load_model(save_model(Model(scorer, corpus.tasks), tmp_path / "m"))
    rows = corpus.features.rows("-v1_1")
    assert np.allclose(again.score(new, rows), scorer.score(new, rows), atol=1e-3)
    assert fit_one(corpus, meaning=False).vectors is None
    assert fit_one(corpus, sharing="none").vectors is None
    for module in ("hmm", "hmm_scorer"):
        monkeypatch.setattr(f"crosstask.methods.{module}.step_name_encoder", lambda: None)
    assert np.isfinite(again.score(task_from_steps("beat eggs, stir"), rows)).all()  # words alone, where the encoder is absent


def test_very_many_classes_are_trained_with_a_factored_kernel_and_score_alike(monkeypatch):
    corpus = tiny_corpus()
    dense = HiddenMarkovModel().fit(corpus, np.random.default_rng(0))
    for module in ("hmm", "hmm_scorer"):
        monkeypatch.setattr(f"crosstask.methods.{module}.LARGEST_DENSE_KERNEL", 3)
    factored = HiddenMarkovModel().fit(corpus, np.random.default_rng(0))
    rows = corpus.features.rows("-v1_1")
    for task in (corpus.tasks["1"], task_from_steps("boil milk, pour milk")):
        assert np.allclose(factored.score(task, rows), dense.score(task, rows), atol=1e-3)


def test_few_training_videos_mix_even_spacing_into_the_posterior():
    corpus = tiny_corpus(videos_per_task=3)
    scorer, task = fit_one(corpus), corpus.tasks["1"]
    rows = corpus.features.rows("-v1_1")
    alone = replace(scorer, n_videos=()).posterior(task, rows).in_step
    mixed = 0.85 * alone + 0.15 * even_spacing(len(rows), len(task.steps))  # half of 0.3, with three of six videos
    assert np.allclose(scorer.posterior(task, rows).in_step, mixed)
    assert scorer.even_spacing_weight(task_from_steps("pour milk, stir")) == 0


def test_scores_of_a_new_task_use_means_predicted_from_words_and_the_initial_prior():
    corpus = tiny_corpus()
    scorer, rows = fit_one(corpus), corpus.features.rows("-v1_1")
    new = task_from_steps("boil coffee, pour milk, stir water")
    names = [name for task in scorer.tasks for name in class_words(task, "component")]
    kernel = word_kernel(class_words(new, "component"), names)
    means = scorer.settings.mean_prior.shared * kernel @ scorer.parameters.coefficients
    expected = expected_scores(scorer, scorer.whitening.transform(rows), means, initial_prior(3), 1.0)
    assert np.allclose(scorer.score(new, rows), expected, atol=2e-3)


def test_observation_noise_is_that_of_the_whitened_training_features():
    corpus = tiny_corpus()
    scorer = fit_one(corpus)
    seconds = autocorrelation_time([scorer.whitening.transform(corpus.features.rows(video.id)) for video in corpus.videos])
    assert seconds > 1 and scorer.settings.mean_prior.noise == pytest.approx(20 * seconds, rel=1e-5)


def test_wide_features_are_projected():
    corpus = tiny_corpus(n_dimensions=700, videos_per_task=3)
    scorer = HiddenMarkovModel().fit(corpus, np.random.default_rng(0))
    assert scorer.whitening.directions is not None and scorer.whitening.width <= 512
    assert recall(corpus, scorer) > 0.8


def test_steps_of_an_untrained_task_are_found_by_shared_words():
    corpus = tiny_corpus(videos_per_task=10)
    without = corpus.only_tasks(["1", "30"])
    scorer = HiddenMarkovModel().fit(without, np.random.default_rng(0))
    result = evaluate_videos(corpus, scorer, [v for v in corpus.videos if v.task == "2"])
    assert result.to_json()["recall"]["mean"] > 0.7  # 'boil' and 'pour' occur in trained tasks, 'water' does not


def test_windows_over_most_of_the_video_are_left_out():
    corpus = tiny_corpus()
    key = corpus.videos[1].key
    wide = replace(corpus, windows={key: (StepInterval(0, Interval(0, 15)), StepInterval(1, Interval(3, 6)))})
    mask = window_mask(wide, corpus.videos[1])
    assert not mask[:, 0].any() and mask[:, 1].sum() == 3 and not mask[:, 2].any()


def test_one_task_with_four_videos_and_constant_features_can_be_trained():
    corpus = tiny_corpus().only_tasks(["2"])
    assert recall(tiny_corpus(), HiddenMarkovModel().fit(corpus, np.random.default_rng(0))) >= 0
    flat = replace(corpus, features=FeaturesInMemory({v: np.zeros((20, 6), np.float32) for v in corpus.features}))
    scores = HiddenMarkovModel().fit(flat, np.random.default_rng(0)).score(corpus.tasks["2"], np.zeros((20, 6)))
    assert np.isfinite(scores).all()


def test_features_of_another_width_and_unknown_sharing_are_rejected():
    corpus = tiny_corpus()
    with pytest.raises(InputError, match="trained on 6 columns"):
        HiddenMarkovModel().fit(corpus, np.random.default_rng(0)).score(corpus.tasks["1"], np.zeros((9, 5)))
    with pytest.raises(InputError, match="component, step, task-component, none"):
        HiddenMarkovModel("words").fit(corpus, np.random.default_rng(0))


def test_the_method_depends_on_no_name_of_a_data_set_and_no_width():
    """The code of the method holds no name of a data set, and compares nothing with a particular width."""
    source = Path(__file__).parent.parent.parent / "src" / "crosstask"
    for path in [source / "methods" / "hmm.py", *(source / "learning" / "hmm").glob("*.py")]:
        tree = ast.parse(path.read_text("utf-8"))
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
        docstrings = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docstrings:
                assert not [n for n in ("crosstask_release", "breakfast", "synthetic", "3200") if n in node.value.lower()], path
            if isinstance(node, ast.Attribute):
                assert ast.unparse(node) != "corpus.name", path
            if isinstance(node, ast.Compare):
                constants = [c.value for c in ast.walk(node) if isinstance(c, ast.Constant)]
                assert not any(isinstance(c, int) and not isinstance(c, bool) and c > 3 for c in constants), ast.unparse(node)


def test_features_on_disk_train_the_same_model_as_features_in_memory(monkeypatch):
    corpus = tiny_corpus()
    in_memory = fit_one(corpus)
    monkeypatch.setattr("crosstask.storage.scratch.IN_MEMORY_BYTES", 0)
    on_disk = fit_one(corpus)
    assert np.array_equal(in_memory.parameters.coefficients, on_disk.parameters.coefficients)


@pytest.mark.parametrize("length", [float("nan"), float("inf"), 0.0, -1.0])
def test_background_durations_must_be_positive_and_finite(length):
    arrays, values = HiddenMarkovModel().fit(tiny_corpus(), np.random.default_rng(0)).to_arrays()
    lengths = [length, *values["background_lengths"][1:]]
    with pytest.raises(InputError, match="background"):
        hmm_from(arrays, {**values, "background_lengths": lengths})


@pytest.mark.parametrize(
    ("name", "bend", "message"),
    [
        ("habits.0000.position", lambda a: a[:0], "does not fit its step list"),
        ("habits.0000.position", lambda a: -a, "does not fit its step list"),
        ("habits.0001.length", lambda a: a[:1], "does not fit its step list"),
        ("habits.0001.presence", lambda a: a + 2, "does not fit its step list"),
        ("covariance", lambda a: a * 0, "covariance is singular"),
    ],
)
def test_parameters_that_cannot_be_true_are_refused(name, bend, message):
    arrays, values = HiddenMarkovModel().fit(tiny_corpus(), np.random.default_rng(0)).to_arrays()
    with pytest.raises(InputError, match=message):
        hmm_from({**arrays, name: bend(arrays[name])}, values)


def test_features_too_large_to_be_scored_are_refused():
    corpus = tiny_corpus()
    scorer = HiddenMarkovModel().fit(corpus, np.random.default_rng(0))
    features = np.full((20, 6), 1e308)
    features[::2] *= -1
    with pytest.raises(InputError, match="scores are not finite"):
        scorer.score(corpus.tasks["1"], features)


def test_half_of_a_character_in_a_step_is_refused():
    arrays, values = HiddenMarkovModel().fit(tiny_corpus(), np.random.default_rng(0)).to_arrays()
    (first, *others) = values["trained_tasks"]
    with pytest.raises(InputError, match="surrogates not allowed"):
        hmm_from(arrays, {**values, "trained_tasks": [{**first, "title": "\ud800"}, *others]})


def test_kernel_of_a_trained_task_is_that_of_its_words():
    scorer = fit_one(tiny_corpus())
    for number, task in enumerate(scorer.tasks):
        shares = scorer._class_shares
        kernel = shares[scorer._classes.of(number)] @ shares.T
        assert kernel.tobytes() == word_kernel(class_words(task, scorer.sharing), scorer._class_names.words).tobytes()
