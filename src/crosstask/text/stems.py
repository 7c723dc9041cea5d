"""Words and stems of step names and of running text.

The words of a step name are those of `words_of_step`; stems and compound parts are derived from them.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

# Where a compound is split: fruit|Salad, egg|2|plate, stir_in, half-and-half, salt/pepper.
_COMPOUND_JOINT = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])2(?=[A-Za-z])|[_\-/]+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*", re.UNICODE)


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The Snowball stem of a word, in lower case.

    >>> stem("Pouring"), stem("shelves")
    ('pour', 'shelv')
    """
    return str(_stemmer().stemWord(word.lower()))


def words_of_step(step: str) -> list[str]:
    """The words of a step name, split at white space as in the paper, in lower case.

    >>> words_of_step("Pour  milk")
    ['pour', 'milk']
    """
    return step.lower().split()


def words_of_text(text: str) -> list[str]:
    """The words of running text, in lower case, without punctuation.

    >>> words_of_text("Now, don't stir!")
    ['now', "don't", 'stir']
    """
    return _WORD.findall(text.lower())


def stems_of_step(step: str) -> list[str]:
    """The components of a step: the distinct stems of its words, in order of appearance.

    >>> stems_of_step("pour mixture into cup")
    ['pour', 'mixtur', 'into', 'cup']
    """
    return list(dict.fromkeys(stem(word) for word in words_of_step(step)))


def words_of_step_parts(step: str) -> list[str]:
    """The words of a step name, after splitting compounds.

    >>> words_of_step_parts("put egg2plate"), words_of_step_parts("stir_in sugar")
    (['put', 'egg', 'plate'], ['stir', 'in', 'sugar'])
    """
    return words_of_step(_COMPOUND_JOINT.sub(" ", step))


def stems_of_step_parts(step: str) -> list[str]:
    """The stems of the words of a step name, after splitting compounds; repeats are kept.

    >>> stems_of_step_parts("put egg2plate"), stems_of_step_parts("stir_in sugar")
    (['put', 'egg', 'plate'], ['stir', 'in', 'sugar'])
    """
    return [stem(word) for word in words_of_step_parts(step)]


def words_as_written(components: Iterable[str], steps: Iterable[str]) -> tuple[str, ...]:
    """The words of step names, as written, whose stems are among the components; components that are no stems stay as they are.

    >>> words_as_written(["dri", "car", "latte: stir"], ["wash car", "dry car"])
    ('car', 'dry', 'latte: stir')
    """
    wanted = list(components)
    words = [word for step in steps for word in words_of_step_parts(step) + words_of_step(step)]
    found = dict.fromkeys(word for word in words if stem(word) in wanted)
    stems = {stem(word) for word in found}
    return (*found, *(component for component in wanted if component not in stems))
