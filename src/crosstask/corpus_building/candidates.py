"""Articles as candidate tasks, by the paper's three criteria as far as the text shows them; a person makes the final choice.

1. Physical interaction: the share of steps that begin with a verb of manual action, from the list below (ours).
2. Fixed order: the share of steps that do not offer a choice ('alternatively', 'if you', 'consider', 'method 2').
3. Frequent: the number of search results, where these are given.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from crosstask.corpus_building.drafting import draft_step, draft_steps
from crosstask.text import stem, words_of_text
from crosstask.text.encoders.articles import Page

FEWEST_STEPS, MOST_STEPS = 3, 25  # ours; the paper's tasks have 3 to 11 steps
LEAST_PHYSICAL, LEAST_ORDERED = 0.5, 0.6  # shares of the steps; ours
FEWEST_RESULTS = 30  # the paper takes 30 videos of a related task
_MANUAL_VERBS = """
add adjust align apply arrange assemble attach bake baste beat bend bind blend blot boil bolt braid bread break brew broil brown brush
build burn butter carve chill chop clamp clean close coat combine connect cook cool cover crack crease crimp crush cube curl cut dab
dampen deflate detach dice dig dilute dip disconnect discard dissolve drain drape draw drill drizzle drop dry dust empty fasten feed
file fill filter fit flatten flip fold freeze frost fry garnish glaze glue grab grasp grate grease grill grind hammer hang heat hem
hold hook immerse inflate insert install iron jack juice knead knit knot lay layer level lift light line load loosen lower lubricate
marinate mark mash measure melt microwave mince mix moisten mop mount nail open pack paint paste pat peel pierce pin pinch place plant
plug polish pound pour preheat press pry pull pump punch push put raise reassemble refill refrigerate remove repeat replace rest
rinse roast roll rotate rub saute sand saw scoop score scrape screw scrub seal season secure separate serve set sew shake shape sharpen
shave shred sift simmer skim skin slice slide smear smooth snap soak solder spin splash sponge spoon spray spread sprinkle squeeze
stack staple steam steep stick stir stitch strain stretch strip stuff suck swirl take tape taste tear thread tie tighten toast top
toss touch transfer trim turn twist unbolt unclip unplug unroll unscrew untie unwrap vacuum warm wash water wax weave whip whisk wind
wipe wrap wring zip
"""
PHYSICAL_STEMS = frozenset(stem(verb) for verb in _MANUAL_VERBS.split())
_CHOICE_WORDS = re.compile(
    r"\b(alternatively|if you|if your|consider|either|instead|optional|optionally|you (?:can|could|may|might)|choose|decide|method \d)\b"
)
_LEADING_ADVERB = re.compile(r"^(?:[a-z]+ly|now|then|next|first|finally|once|again)\b[, ]+")


@dataclass(frozen=True)
class Candidate:
    """An article with its values of the criteria; `frequent` is None without search results."""

    title: str
    physical: float
    ordered: float
    frequent: int | None
    kept: bool
    reason: str
    steps: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The JSON of `corpus candidates`."""
        return asdict(self) | {"steps": list(self.steps)}


def assess_article(page: Page, results: Mapping[str, int] | None = None) -> Candidate:
    """The candidate of an article; `results` holds the number of search results by title in lower case."""
    headlines = [paragraph[0] for paragraph in page.paragraphs if paragraph]
    physical = _share(is_physical(headline) for headline in headlines)
    ordered = _share(not _CHOICE_WORDS.search(headline.lower()) for headline in headlines)
    frequent = None if results is None else results.get(page.title.lower(), 0)
    reason = _reason(len(headlines), physical, ordered, frequent)
    return Candidate(page.title, physical, ordered, frequent, not reason, reason or "fits", tuple(draft_steps(headlines)))


def is_physical(headline: str) -> bool:
    """True if a step begins with a verb of manual action that has an object.

    >>> is_physical("Carefully pour the milk."), is_physical("Pour."), is_physical("Think about your goals.")
    (True, False, False)
    """
    words = words_of_text(_LEADING_ADVERB.sub("", headline.strip().lower()))
    return bool(words) and stem(words[0]) in PHYSICAL_STEMS and len(draft_step(headline).split()) > 1


def _share(flags: Iterable[bool]) -> float:
    values = list(flags)
    return sum(values) / len(values) if values else 0.0


def _reason(n_steps: int, physical: float, ordered: float, frequent: int | None) -> str:
    """The reason why an article is not a candidate, or an empty string."""
    if not FEWEST_STEPS <= n_steps <= MOST_STEPS:
        return f"{n_steps} steps; expected {FEWEST_STEPS} to {MOST_STEPS}"
    if physical < LEAST_PHYSICAL:
        return f"{physical:.0%} of its steps are manual actions; expected {LEAST_PHYSICAL:.0%}"
    if ordered < LEAST_ORDERED:
        return f"{1 - ordered:.0%} of its steps are choices; expected at most {1 - LEAST_ORDERED:.0%}"
    if frequent is not None and frequent < FEWEST_RESULTS:
        return f"{frequent} search results; expected {FEWEST_RESULTS}"
    return ""


def rank_candidates(pages: Iterable[Page], results: Mapping[str, int] | None = None) -> list[Candidate]:
    """All articles: those that fit first, then by the product of the two shares, equal ones in file order."""
    assessed = [assess_article(page, results) for page in pages]
    return sorted(assessed, key=lambda c: (not c.kept, -(c.physical * c.ordered)))
