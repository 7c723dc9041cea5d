"""The published classifier of Richard'18: one step by hand, gradients by autodiff, and what sets can teach."""

import numpy as np
import pytest

from crosstask.learning.baselines.set_network import (
    SetNetwork,
    SetNetworkSettings,
    descend,
    initial_weights,
    log_prior,
    set_matrix,
    train_set_network,
)
from learning.baselines.test_action_sets import planted


def test_a_worked_step():
    """One feature, one hidden unit, one class: h = max(0, 2 x), logit = h - 1, so x = 1 gives sigmoid(1)."""
    first, second = np.array([[2.0, 0.0]]), np.array([[1.0, -1.0]])
    network = SetNetwork(first.copy(), second.copy(), np.log(np.array([0.5])))
    assert network.scores(np.array([[1.0], [-3.0]]), np.array([0])).ravel() == pytest.approx(
        [np.log(1 / (1 + np.exp(-1))) - np.log(0.5), np.log(1 / (1 + np.exp(1))) - np.log(0.5)]
    )
    error = 1 / (1 + np.exp(-1)) - 0.0  # the class is not in the set
    descend(first, second, np.array([[1.0]]), np.array([[0.0]]), 0.1)
    assert second == pytest.approx(np.array([[1 - 0.2 * error * 2, -1 - 0.2 * error]]))  # two output units move
    assert first == pytest.approx(np.array([[2 - 0.1 * error, -0.1 * error]]))


def test_the_step_is_that_of_two_output_units_and_a_softmax():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    x, targets = rng.standard_normal((7, 3)), (rng.random((7, 4)) < 0.5).astype(float)
    V, a = rng.standard_normal((5, 3)), rng.standard_normal(5)
    U, s = rng.standard_normal((2, 4, 5)), rng.standard_normal((2, 4))
    tensors = [torch.tensor(array, requires_grad=True) for array in (V, a, U, s)]
    hidden = torch.relu(torch.tensor(x) @ tensors[0].T + tensors[1])
    logits = torch.einsum("bh,uch->bcu", hidden, tensors[2]) + tensors[3].T
    chosen = torch.log_softmax(logits, dim=2).gather(2, torch.tensor(targets).long()[:, :, None])
    (-chosen.sum(dim=1).mean()).backward()
    first = np.concatenate([V, a[:, None]], axis=1)
    second = np.concatenate([U[1] - U[0], (s[1] - s[0])[:, None]], axis=1)
    descend(first, second, x, targets, 0.3)
    V, a, U, s = (t.detach().numpy() - 0.3 * t.grad.numpy() for t in tensors)
    assert np.allclose(first, np.concatenate([V, a[:, None]], axis=1))
    assert np.allclose(second, np.concatenate([U[1] - U[0], (s[1] - s[0])[:, None]], axis=1))


def test_prior_and_background():
    in_set = set_matrix([np.array([0]), np.array([0, 1])], 3)
    assert in_set.tolist() == [[1, 0, 0, 1], [1, 1, 0, 1]], "every video has the background, the last class"
    assert np.exp(log_prior(in_set, [10, 30])) == pytest.approx(np.array([40, 30, 1, 40]) / 111)


def test_sets_that_vary_teach_the_classifier():
    videos, sets, _ = planted(0)
    found = train_set_network(videos, sets, 8, np.random.default_rng(1), SetNetworkSettings(epochs=30))
    fresh, _, truth = planted(7)
    guessed = found.scores(np.concatenate(fresh), np.arange(8)).argmax(axis=1)
    assert np.mean(guessed == np.concatenate(truth)) > 0.7


def test_initial_weights_are_bounded_by_the_number_of_inputs():
    first, second = initial_weights(100, 25, 3, np.random.default_rng(0))
    assert np.abs(first).max() <= 0.1 and np.abs(second).max() <= 0.4 and first.shape == (25, 101) and second.shape == (3, 26)


@pytest.mark.parametrize("bad", [{"hidden": 0}, {"classifier_rate": 0.0}])
def test_settings_without_a_meaning_are_refused(bad):
    with pytest.raises(ValueError, match="must be positive"):
        SetNetworkSettings(**bad)
