from dataclasses import replace

import numpy as np
import pytest
import torch

from crosstask.learning.zhukov19.alternation import AlternationSettings, alternate, begin, supervise
from crosstask.learning.zhukov19.component_model import component_scores, log_softmax
from crosstask.learning.zhukov19.deep import DeepSettings, alternate_deep, layers
from learning.zhukov19.problems import random_problem

SETTINGS = AlternationSettings(learning_rate=1e-2, dropout=0.0, initial_epochs=4, epochs=13)


def trained(problem, settings=SETTINGS, seed=5):
    rows, videos, tasks, n_components = problem
    return alternate(rows, videos, tasks, begin(n_components, rows.shape[1], videos, seed), settings, seed)


@pytest.mark.parametrize("label_cost", ["linearised", "plain"])
def test_the_closed_form_and_pytorch_walk_the_same_way_for_100_steps(label_cost):
    rows, videos, tasks, n_components = problem = random_problem(windows=True)
    settings = replace(SETTINGS, label_cost=label_cost)
    start = begin(n_components, rows.shape[1], videos, 5).parameters.copy()
    ours = trained(problem, settings).parameters
    assert len(videos.task) * (settings.initial_epochs + settings.epochs) >= 100
    classifier = layers(rows.shape[1], n_components, (), 0.0)
    with torch.no_grad():
        classifier[-1].weight.copy_(torch.tensor(start[:, :-1]))
        classifier[-1].bias.copy_(torch.tensor(start[:, -1]))
    alternate_deep(rows, videos, tasks, classifier, DeepSettings(settings), 5)
    theirs = np.column_stack([classifier[-1].weight.detach().numpy(), classifier[-1].bias.detach().numpy()])
    assert np.abs(start - ours).max() > 0.1, "something was learnt"
    assert np.allclose(ours, theirs, atol=2e-4)


def test_labels_keep_order_and_windows():
    _, videos, tasks, _ = problem = random_problem()
    labels = trained(problem).labels
    for v, task in enumerate(videos.task):
        K = tasks.n_steps[task]
        chosen = labels[videos.first_label[v] : videos.first_label[v + 1]]
        n_active = videos.first_active[v + 1] - videos.first_active[v]
        allowed = videos.allowed[videos.first_allowed[v] : videos.first_allowed[v + 1]].reshape(n_active, K)
        assert (np.diff(chosen) > 0).all() and allowed[chosen, np.arange(K)].all()


def test_the_loss_falls():
    losses = trained(random_problem(windows=False), replace(SETTINGS, epochs=30)).losses
    assert losses[-1] < 0.5 * losses[SETTINGS.initial_epochs]


@pytest.mark.parametrize("label_cost", ["upper-bound", "linearised", "plain"])
def test_stopping_after_any_epoch_and_going_on_ends_with_the_same_bytes(label_cost):
    rows, videos, tasks, n_components = problem = random_problem()
    settings = replace(SETTINGS, dropout=0.4, label_cost=label_cost)
    whole = trained(problem, settings)
    for stop in (1, 4, 9):
        half = alternate(
            rows,
            videos,
            tasks,
            begin(n_components, rows.shape[1], videos, 5),
            replace(settings, initial_epochs=min(stop, 4), epochs=max(0, stop - 4)),
            5,
        )
        assert half.epochs_done == stop
        done = alternate(rows, videos, tasks, half, settings, 5)
        assert done.parameters.tobytes() == whole.parameters.tobytes() and done.losses == whole.losses


def test_half_precision_rows_are_read_exactly():
    rows, videos, tasks, n_components = random_problem()
    half = rows.astype(np.float16)
    half[0, :4] = [0.0, -0.0, 6e-8, -65504]  # subnormal and largest
    ours = trained((half, videos, tasks, n_components))
    assert ours.parameters.tobytes() == trained((half.astype(np.float32), videos, tasks, n_components)).parameters.tobytes()


def test_dropout_keeps_the_stated_share_and_the_mean():
    from crosstask.learning.zhukov19.kernels import load_row, workspace

    space = workspace(10_000, 1, 1)
    rows = np.ones((1, 10_000), np.float32)
    kept = []
    for key in range(20):
        load_row(rows, 0, np.uint64(key * 7919), 0.7, space.rows[0], space)
        kept.append((space.rows[0] > 0).mean())
        assert set(np.unique(space.rows[0])) == {np.float32(0), np.float32(1 / (1 - 0.7))}
    assert np.mean(kept) == pytest.approx(0.3, abs=0.004)


def test_nothing_of_an_earlier_video_reaches_a_gradient():
    from crosstask.learning.zhukov19.kernels import add_gradients, workspace

    rng = np.random.default_rng(0)
    rows, steps = (
        rng.standard_normal((6, 9)).astype(np.float32),
        np.array([0, 1, 2, 1, 0]),
    )  # five rows: one and three empty places
    gradients = []
    for stale in (0.0, np.nan):
        space = workspace(9, 3, 6)
        space.step_weights[:], space.step_gradient[:] = 0.1, 0.0
        for first in (0, 4):
            space.rows[:], space.scores[:] = stale, stale
            add_gradients(rows, np.arange(5), steps, first, np.uint64(1), 1.0, 3, 0.0, space)
        gradients.append(space.step_gradient.copy())
    assert np.isfinite(gradients[1]).all() and np.array_equal(*gradients)


@pytest.mark.parametrize("bad", [{"dropout": 1.0}, {"learning_rate": 0.0}, {"label_cost": "exact"}, {"epochs": -1}])
def test_settings_without_a_meaning_are_refused(bad):
    with pytest.raises(ValueError, match=r"expected|negative"):
        replace(SETTINGS, **bad)


def test_supervised_reaches_an_independent_multinomial_fit():
    """One task, a classifier per step, every segment labelled: scikit-learn's logistic regression on the same labels."""
    from sklearn.linear_model import LogisticRegression

    from crosstask.learning.zhukov19.training_set import TaskOfSteps, TrainingVideo, task_arrays, video_arrays

    rng = np.random.default_rng(0)
    K, D, T = 3, 4, 60
    tasks = task_arrays([TaskOfSteps(np.arange(K), np.eye(K))])
    labels = rng.integers(K, size=T)
    rows = (rng.standard_normal((T, D)) + 0.7 * np.eye(K, D)[labels]).astype(np.float32)
    truth = np.eye(K, dtype=bool)[labels]
    videos = video_arrays([TrainingVideo(0, 0, T, truth)], tasks)
    settings = AlternationSettings(learning_rate=0.002, dropout=0.0, initial_epochs=0, epochs=8000)  # small: Adam does not rest
    ours = supervise(rows, videos, tasks, begin(K, D, videos, 0), settings, 0).parameters
    fit = LogisticRegression(C=1e6, max_iter=10_000, tol=1e-10).fit(rows, labels)
    assert np.allclose(log_softmax(component_scores(rows, ours)), fit.predict_log_proba(rows), atol=1e-3)


def test_label_costs_are_equation_17():
    from crosstask.learning.zhukov19.component_model import step_scores, upper_bound_cost
    from crosstask.learning.zhukov19.kernels import arrays_of, form_step_weights, label_costs, workspace

    rows, videos, tasks, n_components = random_problem(seed=2)
    parameters = begin(n_components, rows.shape[1], videos, 1).parameters * 5
    from crosstask.learning.zhukov19.alternation import training_constants

    constants = training_constants(replace(SETTINGS, learning_rate=0.3), 1)
    for v in range(3):
        numbers, averaging, active, allowed = arrays_of(v, videos, tasks)
        space = workspace(rows.shape[1], 8, 40)
        form_step_weights(parameters, numbers, averaging, space.step_weights)
        label_costs(rows, videos.first_row[v], active, allowed, np.uint64(1), averaging, constants, space)
        x = rows[videos.first_row[v] + active]
        f = step_scores(component_scores(x, parameters[numbers]), averaging > 0)
        expected = np.where(allowed, upper_bound_cost(f, averaging, (x**2).sum(axis=1), 0.3), np.inf)
        assert np.allclose(space.cost[: len(active), : len(averaging)], expected, rtol=1e-4, atol=1e-4)
