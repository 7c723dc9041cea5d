"""Drafts of step lists: a headline shortened to verb and object, to be edited by a person."""

import re

from crosstask.text import words_of_text

MAX_WORDS = 4  # of a drafted step; ours
_OMITTED_WORDS_TEXT = """
a an the your you some any of this that these those it its their his her my our all each very more most just then now
next first finally carefully gently slowly lightly evenly thoroughly well optional optionally please again also
"""
_OMITTED_WORDS = frozenset(_OMITTED_WORDS_TEXT.split())  # left out of a drafted step
_FINAL_WORDS_TEXT = """
and or until while when if so for with without by before after because using which who where as than but at
"""
_FINAL_WORDS = frozenset(_FINAL_WORDS_TEXT.split())  # the step ends before them
_CLAUSE_END = re.compile(r"[.;:,!?()\[\]–—]")


def draft_step(headline: str) -> str:
    """Verb and object of a headline, at most four words; empty if no word is left.

    >>> draft_step("Carefully pour the milk into a large pan, and stir until smooth.")
    'pour milk into large'
    >>> draft_step("Toast your bread to your own tastes.")
    'toast bread to own'
    """
    kept: list[str] = []
    for word in words_of_text(_CLAUSE_END.split(headline.strip(), maxsplit=1)[0]):
        if word in _FINAL_WORDS and kept:
            break
        if word not in _OMITTED_WORDS and word not in _FINAL_WORDS:
            kept.append(word)
    return " ".join(kept[:MAX_WORDS])


def draft_steps(headlines: list[str]) -> list[str]:
    """The drafted steps of an article in order, without duplicates."""
    return [step for step in dict.fromkeys(draft_step(headline) for headline in headlines) if step]
