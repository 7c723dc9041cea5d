import pytest

from crosstask.records import InputError, Task
from crosstask.records.task import topological_order, without_circles


def test_a_topological_order_keeps_all_edges_and_prefers_low_ranks():
    edges = [(3, 0), (0, 2)]
    found = topological_order(edges, [0.0, 0.5, 0.1, 0.9])
    assert found == [1, 3, 0, 2] and all(found.index(a) < found.index(b) for a, b in edges)


@pytest.mark.parametrize(("edges", "message"), [([(0, 1), (1, 0)], "form a circle"), ([(0, 5)], "expected two different steps")])
def test_what_is_no_partial_order_is_refused(edges, message):
    with pytest.raises(InputError, match=message):
        Task("1", "Tea", ("a", "b"), order=tuple(edges))


def test_circles_are_found_in_time_proportional_to_the_edges():
    """A crafted file may list very many; the chain took minutes when every edge was followed to its end."""
    chain = [(k, k + 1) for k in range(20_000)]
    assert without_circles(chain) == chain
    assert without_circles([*chain, (20_000, 0), (5, 10**30)]) == [(5, 10**30)]


def test_a_long_circle_is_found():
    assert without_circles([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)]) == [(3, 4)]


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\u200d \u2060", "\x07"])
def test_a_step_without_a_visible_character_is_empty(name):
    with pytest.raises(InputError, match="step 2 is empty"):
        Task("1", "Make Latte", ("pour milk", name))


def test_a_list_of_steps_is_as_good_as_a_tuple():
    task = Task("1", "Make Latte", ["pour milk", "stir"])
    assert task == Task("1", "Make Latte", ("pour milk", "stir")) and len({task}) == 1
