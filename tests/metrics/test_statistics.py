import pytest

from crosstask.metrics.statistics import (
    compare_datasets,
    group_statistics,
    overall_statistics,
    shared_ids,
    task_statistics,
)

# Table S2 of the paper: videos, steps, missing %, background %, order consistency
PAPER = {
    "Make Kimchi Fried Rice": (120, 6, 21, 70, 0.69),
    "Make Bread and Butter Pickles": (106, 11, 48, 75, 0.85),
    "Make Banana Ice Cream": (170, 5, 38, 80, 0.98),
    "Grill Steak": (228, 11, 46, 75, 0.95),
    "Jack Up a Car": (89, 3, 39, 81, 1.00),
    "Make Jello Shots": (182, 6, 21, 72, 0.87),
    "Change a Tire": (99, 11, 27, 62, 0.97),
    "Make Lemonade": (131, 8, 28, 69, 0.80),
    "Add Oil to Your Car": (137, 8, 33, 85, 0.92),
    "Make a Latte": (157, 6, 43, 71, 0.89),
    "Build Simple Floating Shelves": (153, 5, 34, 58, 0.96),
    "Make Taco Salad": (170, 8, 41, 79, 0.66),
    "Make French Toast": (252, 10, 23, 68, 0.80),
    "Make Irish Coffee": (185, 5, 13, 74, 0.77),
    "Make French Strawberry Cake": (86, 9, 25, 63, 0.82),
    "Make Pancakes": (182, 8, 19, 70, 0.89),
    "Make Meringue": (154, 6, 23, 67, 0.98),
    "Make Kerala Fish Curry": (149, 7, 25, 69, 0.74),
}


@pytest.fixture(scope="module")
def rows(real_release):
    return [task_statistics(real_release, task) for task in real_release.primary_tasks()]


def test_table_s2_in_all_18_rows(rows):
    assert {row.title for row in rows} == set(PAPER)
    for row in rows:
        videos, steps, missing, background, order = PAPER[row.title]
        assert (row.videos, row.steps, round(100 * row.missing)) == (videos, steps, missing), row.title
        assert abs(100 * row.background - background) <= 1, row.title
        assert abs(row.order_consistency - order) <= 0.012, row.title


def test_overall_figures(rows, real_release):
    figures = overall_statistics(rows)
    assert figures["missing"] == pytest.approx(0.309, abs=0.0005)
    assert figures["background"] == pytest.approx(0.715, abs=0.0005)
    assert figures["order_consistency"] == pytest.approx(0.864, abs=0.0005)
    tasks = list(real_release.tasks.values())
    primary = group_statistics(real_release, [t for t in tasks if t.primary])
    related = group_statistics(real_release, [t for t in tasks if not t.primary])
    assert (primary.rows, related.rows) == (2750, 1950)
    assert (round(primary.hours, 1), round(related.hours, 1)) == (212.1, 163.8)
    assert (round(primary.steps_per_task, 2), round(related.steps_per_task, 2)) == (7.39, 8.78)
    assert group_statistics(real_release, tasks).ids == 4607
    assert shared_ids(real_release) == 72


def test_table_1_row(real_release):
    (row,) = compare_datasets([real_release])
    assert (row.videos, round(row.hours), row.tasks, row.annotated) == (4700, 376, 83, True)
