"""The step lists of the third planted world: those of the first two, named as plainly as the release names its steps.

In the release a word of a primary task's steps stands in 18 other tasks, in the first two worlds in 12 ('add' is a quarter of all
steps there, a sixth here), while fewer of the related tasks' steps have the very name of another task's: 0.33 against 0.51. So most special
verbs become plain ones, and some steps of a composed task also name what the task is about.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from crosstask.records import Task
from crosstask.synthetic.random_streams import generator
from crosstask.synthetic.step_lists import catalogue

PLAIN_NAMES = (  # the first that fits is taken
    ("(garnish|decorate) (.+) with (.+)", r"add \3 to \2"),
    ("(fill|stuff) (.+) with (.+)", r"put \3 in \2"),
    ("mix (.+) with (.+)", r"add \1 to \2"),
    ("mix (.+)", r"stir \1"),
    ("(water_down|wet_down) (.+)", r"pour water on \2"),
    ("rinse (.+)", r"pour water on \1"),
    ("oil_up (.+)", r"pour oil on \1"),
    ("brush stain onto (.+)", r"add stain to \1"),
    ("season (.+)", r"add salt to \1"),
    ("grease (.+)", r"put butter in \1"),
    ("marinate (.+)", r"put \1"),
    ("serve (.+)", r"put \1"),
    ("cover floor", "put sheet on floor"),
    ("(cover|seal) (pan|jar)", r"put lid on \2"),
    ("(sprinkle|squeeze) (.+)", r"add \2"),
    ("spread (.+)", r"put \1"),
    ("crack (.+)", r"add \1"),
    ("(whisk|blend|whip|mash) (.+)", r"stir \2"),
    ("(boil|melt) (.+)", r"heat \2"),
    ("bake (.+)", r"put \1 in oven"),
    ("(insert|hang|lift|drive|plant_out) (.+)", r"put \2"),
    ("(pull_out|peel_off|unplug|desolder) (.+)", r"remove \2"),
    ("(nail|solder) (.+)", r"attach \2"),
    ("(drain|strain) (.+)", r"pour \2"),
    ("(scrub|wipe) (.+)", r"clean \2"),
)
JOINED_BY = {"add": "to", "put": "on", "pour": "into", "remove": "from", "attach": "to"}
NAMES_THE_TOPIC = 0.45  # of the steps of composed tasks that do not name it anyway
FIRST_COMPOSED = 29  # in the catalogue


@cache
def plain_catalogue() -> tuple[Task, ...]:
    """All tasks of the third world, in the order of the catalogue.

    >>> plain_catalogue()[0].steps[-2:]
    ('stir mixture', 'pour mixture into glass')
    """
    return tuple(_plain(task, composed=i >= FIRST_COMPOSED) for i, task in enumerate(catalogue()))


def _plain(task: Task, composed: bool) -> Task:
    """The task with plain names, none twice."""
    names: Sequence[str] = [plain_name(step) for step in task.steps]
    if composed:
        rng = generator(0, "names the topic", task.title)
        topic = task.title.split()[-2 if task.title.endswith(("Cake", "Soup", "Drink", "Dip")) else -1].lower()
        names = [_with_topic(name, topic) if rng.random() < NAMES_THE_TOPIC else name for name in names]
    return replace(task, steps=tuple(dict.fromkeys(names)))


def plain_name(step: str) -> str:
    """A step as most people would name it.

    >>> plain_name("garnish soup with chive"), plain_name("cut onion")
    ('add chive to soup', 'cut onion')
    """
    for pattern, plain in PLAIN_NAMES:
        if re.fullmatch(pattern, step):
            return re.sub(pattern, plain, step)
    return step


def _with_topic(name: str, topic: str) -> str:
    """'remove wheel' as 'remove wheel from rotor', 'close case' as 'close lamp case'; what names the topic, or has a place, stays."""
    verb, *others = name.split()
    if topic in others or len(others) > 1:
        return name
    return f"{name} {JOINED_BY[verb]} {topic}" if verb in JOINED_BY else f"{verb} {topic} {others[0]}"
