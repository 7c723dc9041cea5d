import pytest

from crosstask.datasets.short_names import short_name


@pytest.mark.parametrize(
    ("description", "name"),
    [
        ("Cut -Cut the English muffin into two pieces with a knife", "cut english muffin pieces knife"),
        ("Boil-Boil the water. (While it boils, wait)", "boil water"),
        ("add-Once the pan is hot, add the mushrooms", "add mushrooms"),
        ("Roll-Roll the bread. Do not press", "roll bread"),
        ("Coat -Coat a 6-oz. ramekin cup with spray", "coat ramekin cup spray"),
        ("stir it", "stir"),
        ("12", "12"),
    ],
)
def test_names_by_the_rule(description, name):
    assert short_name(description) == name
