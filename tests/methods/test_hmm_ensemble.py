"""The ensemble of the default method: the mean of its members, trained differently, stored together."""

from dataclasses import replace

import numpy as np
import pytest

from crosstask.inference.narration_evidence import order_gain, order_posterior
from crosstask.learning.hmm.em import EmSettings
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.hmm_ensemble import VARIATIONS, HmmEnsemble, Variation
from crosstask.methods.hmm_file import hmm_from
from crosstask.methods.table import method_named
from crosstask.records import InputError, StepLabel, task_from_steps
from tiny import tiny_corpus

RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def corpus():
    return tiny_corpus(videos_per_task=6)


@pytest.fixture(scope="module")
def model(corpus):
    return HiddenMarkovModel().fit(corpus, RNG)


def test_the_posterior_is_the_mean_of_the_members(corpus, model):
    rows = corpus.features.rows("-v1_1")
    labels = (StepLabel(0, moment_s=2.0),)
    for task in (corpus.tasks["1"], task_from_steps("boil milk, pour milk")):
        found = model.posterior(task, rows, labels)
        members = [member.posterior(task, rows, labels) for member in model.members]
        assert np.allclose(found.in_step, sum(m.in_step for m in members) / 5)
        assert np.allclose(found.p_shown, sum(m.p_shown for m in members) / 5)
        mean = sum(member.posterior(task, rows).in_step for member in model.members) / 5
        assert np.allclose(model.score(task, rows), np.log(mean + 1e-12))


def test_members_differ_in_folds_and_by_the_factors_of_their_variation(model):
    settings = [member.settings for member in model.members]
    assert [s.fold_seed for s in settings] == [0, 1, 2, 3, 4]
    assert settings[2].evidence_weight == 1.4 and settings[3].mean_prior.noise == pytest.approx(settings[0].mean_prior.noise / 2)
    assert settings[4].mean_prior.ridge == 0.6 and len({m.parameters.coefficients.tobytes() for m in model.members}) == 5


def test_a_variation_never_replaces_more_than_the_whole_covariance():
    common = EmSettings()
    strong = replace(common, mean_prior=replace(common.mean_prior, ridge=0.8))
    assert Variation(ridge=2.0).of(strong, 0).mean_prior.ridge == 1.0


def test_confidence_uses_the_informativeness_of_training_and_of_the_video_for_a_new_task(corpus, model):
    task, rows, new = corpus.tasks["1"], corpus.features.rows("-v1_1"), task_from_steps("boil milk, pour milk")
    found = model.confidence_inputs(task, rows)
    assert found.informativeness == model.members[0].parameters.informativeness > 0
    np.testing.assert_allclose(found.by_order, order_posterior(model.feature_evidence(task, rows)).in_step)
    gain = order_gain(model.feature_evidence(new, rows))
    per_step = -np.log(1 - found.informativeness)
    pooled = (gain + 20 * per_step / 2) / (2 + 20)
    assert model.confidence_inputs(new, rows).informativeness == pytest.approx(1 - np.exp(-max(pooled, 0)))
    first = replace(model.members[0], parameters=replace(model.members[0].parameters, informativeness=None))
    older = replace(model, members=(first, *model.members[1:]))
    assert older.confidence_inputs(new, rows).informativeness == pytest.approx(1 - np.exp(-max(gain / 2, 0)))
    assert older.confidence_inputs(new, np.zeros_like(rows)).informativeness == pytest.approx(0, abs=1e-6)


def test_the_informativeness_is_stored_and_checked(model):
    arrays, values = model.to_arrays()
    assert hmm_from(arrays, values).members[0].parameters.informativeness == model.members[0].parameters.informativeness
    assert all(m.parameters.informativeness is None for m in model.members[1:]), "one estimate serves all members"
    older = {name: value for name, value in values.items() if name != "informativeness"}
    assert hmm_from(arrays, older).members[0].parameters.informativeness is None
    for wrong in (1.5, -0.1, float("nan"), "much"):
        with pytest.raises(InputError, match="train it again"):
            hmm_from(arrays, values | {"informativeness": wrong})


def test_feature_evidence_is_the_mean_with_one_autocorrelation_time(corpus, model):
    task, rows = corpus.tasks["1"], corpus.features.rows("-v1_1")
    time = model.autocorrelation_time
    assert model.members[3].autocorrelation_time == pytest.approx(time / 2)  # its noise is halved, not its features
    expected = np.mean([m.feature_evidence(task, rows, time).log_ratios for m in model.members], axis=0)
    assert np.allclose(model.feature_evidence(task, rows).log_ratios, expected)


def test_fewer_members_are_the_first_ones(corpus, model):
    two = HiddenMarkovModel(members=2).fit(corpus, RNG)
    for one, other in zip(two.members, model.members[:2], strict=True):
        assert one.parameters.coefficients.tobytes() == other.parameters.coefficients.tobytes()


@pytest.mark.parametrize("members", [0, len(VARIATIONS) + 1])
def test_a_number_of_members_that_cannot_be_trained_is_refused(members):
    with pytest.raises(InputError, match=f"members is {members}; expected 1 to 5"):
        method_named("hmm", members=members)


def test_files_of_one_member_load_and_files_without_a_member_do_not(model):
    arrays, values = model.to_arrays()
    first = {name: array for name, array in arrays.items() if not name.startswith("member.")}
    old = {name: value for name, value in values.items() if name not in ("further_members", "meaning")}
    assert len(hmm_from(first, old).members) == 1
    with pytest.raises(InputError, match=r"a part is missing \('member\.1\."):
        hmm_from(first, values)
    with pytest.raises(InputError, match="covariance is singular"):
        hmm_from({**arrays, "member.4.covariance": 0 * arrays["member.4.covariance"]}, values)


def test_training_continues_every_member_from_its_own_parameters(corpus, model):
    states = []
    again = HiddenMarkovModel(start=model, after_epoch=states.append).fit(corpus, RNG)
    assert len(states) == 5 * 4 and len(again.members) == 5
    alone = HiddenMarkovModel(start=HmmEnsemble(model.members[:1]), members=2).fit(corpus, RNG)
    assert alone.members[0].parameters.coefficients.tobytes() == again.members[0].parameters.coefficients.tobytes()


def test_changes_reach_every_member(model):
    assert {member.n_videos for member in model.with_changes(n_videos=()).members} == {()}
