import numpy as np
import pytest

from crosstask.methods.setting_ranges import SETTING_RANGES
from crosstask.methods.table import METHODS, default_settings, method_named
from crosstask.records import InputError
from tiny import tiny_corpus

NUMBERS = [(m, name) for m in METHODS for name, v in default_settings(m).items() if isinstance(v, int | float) and v is not True]
NUMBERS = [(m, name) for m, name in NUMBERS if default_settings(m)[name] is not False] + [("alayrac16", "ridge")]


@pytest.mark.parametrize(("method", "name"), NUMBERS, ids=lambda value: value)
def test_no_setting_may_be_out_of_its_range(method, name):
    for value in (-1, -1e300, 1e300, 10**30, float("nan"), float("inf"), "x", [], b"1"):
        with pytest.raises(InputError, match=rf"{name} is .*; expected a"):
            method_named(method, **{name: value})
    if name != "ridge":
        with pytest.raises(InputError, match=f"{name} is None; expected a"):
            method_named(method, **{name: None})


@pytest.mark.parametrize(("method", "name"), [(m, name) for m, name in NUMBERS if m not in ("zhukov19", "task-specific")])
def test_a_method_trains_with_the_smallest_value_of_a_setting_or_refuses_it(method, name):
    """Where training cannot end well, the reason is an InputError too."""
    quick = {"hmm": {"members": 1, "iterations": 1}, "supervised": {"initial_epochs": 1, "epochs": 1}}.get(method, {})
    allowed = SETTING_RANGES.get(name)
    least = 0 if allowed is None else allowed.smallest
    value = type(default_settings(method)[name] or 0.0)(least)
    if allowed is not None and allowed.open_below:
        value = 1e-300
    corpus = tiny_corpus()
    try:
        scorer = method_named(method, **(quick | {name: value})).fit(corpus, np.random.default_rng(0))
    except InputError:
        return
    assert np.isfinite(scorer.score(corpus.tasks["1"], corpus.features.rows("-v1_2"))).all()


@pytest.mark.parametrize("hidden", [0, "x", None, (0,), (8, 1.5), {8}])
def test_hidden_layers_are_positive_whole_numbers(hidden):
    with pytest.raises(InputError, match="hidden is"):
        method_named("deep", hidden=hidden)
    assert method_named("deep", hidden=[8, 4]).hidden == (8, 4)
