"""Words to stems: 'shelves' and 'shelve' are one word to us."""

import re
from functools import lru_cache
from typing import Any

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
    """The words of a step name, as the paper splits them: at white space, in lower case.

    >>> words_of_step("Pour  milk")
    ['pour', 'milk']
    """
    return step.lower().split()


def words_of_text(text: str) -> list[str]:
    """The words of running text: letters and digits, punctuation dropped.

    >>> words_of_text("Now, don't stir!")
    ['now', "don't", 'stir']
    """
    return _WORD.findall(text.lower())


def stems_of_step(step: str) -> list[str]:
    """The components of a step: its stemmed words, each once, in order of appearance.

    >>> stems_of_step("pour mixture into cup")
    ['pour', 'mixtur', 'into', 'cup']
    """
    return list(dict.fromkeys(stem(word) for word in words_of_step(step)))
