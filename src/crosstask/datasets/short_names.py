"""Short step names from published descriptions by a fixed rule, so that no name is chosen with a result in view.

The rule, for "Verb-Description": the verb, then the first words of the first sentence of the description. Left out are what stands in brackets, everything
from "until" or "for" on, quantities with their unit, and words of `LEFT_OUT`. Words are neither replaced nor brought together: "skillet" and "pan"
stay two words.
"""

import re

MAX_WORDS = 4  # after the verb; ours, about the length of the names in the CrossTask release
_END = frozenset(("until", "for", "while"))
_UNITS = frozenset(
    re.findall(
        r"\w+",
        "cup cups tsp tbsp teaspoon teaspoons tablespoon tablespoons ounce ounces oz inch inches in piece pieces clove cloves block "
        "minute minutes min second seconds sec",
    )
)
LEFT_OUT = frozenset(
    re.findall(
        r"\w+",
        "a an the this that these it its they them each both all some any one two three of to in into inside on onto over under from "
        "off out at with without by and or as up around about again well thoroughly gently slowly briefly roughly lightly just only "
        "more small medium large little contents mixture ingredients top safe",
    )
)
_WORD = re.compile(r"[a-z]+|[0-9][0-9./-]*")
_ASIDE = re.compile(r"\([^)]*\)?|^\s*(?:Once|When)\b[^,]*,")  # in brackets, or a condition before the first comma
_SENTENCE_END = re.compile(r"[.;]\s+(?=[A-Z])")


def short_name(description: str) -> str:
    """The short name of a step, in lower case.

    >>> short_name("Pour-Pour 1 egg into the ramekin cup")
    'pour egg ramekin cup'
    >>> short_name("Add-1/4 cup mayonnaise to the bowl"), short_name("Cook-Cook for 1 minute (stir often)")
    ('add mayonnaise bowl', 'cook')
    """
    verb_part, dash, text = description.partition("-")
    verb = _WORD.findall(verb_part.lower()) if dash else []
    sentence = _SENTENCE_END.split(_ASIDE.sub(" ", text if dash else description).strip())[0].lower()
    kept, after_number = list(verb), False
    for word in _WORD.findall(sentence.replace("'s", "")):
        if word in _END:
            break
        is_number = word[0].isdigit()
        if not (is_number or word in LEFT_OUT or word in kept or (after_number and word in _UNITS)):
            kept.append(word)
        after_number = is_number
    return " ".join(kept[: len(verb) + MAX_WORDS]) or " ".join(description.lower().split())
