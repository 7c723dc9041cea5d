"""Step lists to start from: a headline shortened to verb and object, for a person to edit."""

import re

from crosstask.text import words_of_text

LONGEST = 4  # words of a drafted step
_DROPPED = frozenset(
    [
        "a",
        "an",
        "the",
        "your",
        "you",
        "some",
        "any",
        "of",
        "this",
        "that",
        "these",
        "those",
        "it",
        "its",
        "their",
        "his",
        "her",
        "my",
        "our",
        "all",
        "each",
        "very",
        "more",
        "most",
        "just",
        "then",
        "now",
        "next",
        "first",
        "finally",
        "carefully",
        "gently",
        "slowly",
        "lightly",
        "evenly",
        "thoroughly",
        "well",
        "optional",
        "optionally",
        "please",
        "again",
        "also",
    ]
)
_STOPPING = frozenset(
    [
        "and",
        "or",
        "until",
        "while",
        "when",
        "if",
        "so",
        "for",
        "with",
        "without",
        "by",
        "before",
        "after",
        "because",
        "using",
        "which",
        "who",
        "where",
        "as",
        "than",
        "but",
        "at",
    ]
)
_CLAUSE = re.compile(r"[.;:,!?()\[\]–—]")


def draft_step(headline: str) -> str:
    """Verb and object of a headline, at most four words; empty when nothing is left.

    >>> draft_step("Carefully pour the milk into a large pan, and stir until smooth.")
    'pour milk into large'
    >>> draft_step("Toast your bread to your own tastes.")
    'toast bread to own'
    """
    kept: list[str] = []
    for word in words_of_text(_CLAUSE.split(headline.strip(), maxsplit=1)[0]):
        if word in _STOPPING and kept:
            break
        if word not in _DROPPED and word not in _STOPPING:
            kept.append(word)
    return " ".join(kept[:LONGEST])


def draft_steps(headlines: list[str]) -> list[str]:
    """The drafted steps of an article in order, repeated ones once."""
    return [step for step in dict.fromkeys(draft_step(headline) for headline in headlines) if step]
