"""Related tasks of a task: similar articles (as in the paper), and the step components they share, which training can use.

Articles are bags of stemmed words, weighted by TF-IDF with sublinear counts; titles are repeated three times. Similarity is the cosine.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.corpus_building.drafting import draft_steps
from crosstask.records import InputError
from crosstask.text import stem, stems_of_step, words_of_text
from crosstask.text.encoders.articles import Page

LEAST_SIMILARITY = 0.1  # cosine; below it an article shares only common words with the query; ours
_TITLE_WEIGHT = 3  # repetitions of the title; ours
_SAME_TITLE, _SAME_TEXT, _SAME_RESULTS = 0.75, 0.8, 0.1  # shares and cosine above which two tasks are near duplicates; ours
_STOP_WORDS = "a an the to of in on up down out off for with and your use make do how from at into it is get"
STOP_WORDS = frozenset(_STOP_WORDS.split())  # words without content; ours


@dataclass(frozen=True)
class RelatedTask:
    """An article related to the query, with a drafted step list."""

    title: str
    similarity: float
    shared_components: tuple[str, ...]
    steps: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The JSON of `corpus related`."""
        return {
            "title": self.title,
            "similarity": self.similarity,
            "shared_components": list(self.shared_components),
            "steps": list(self.steps),
        }


def stems_of_text(text: str) -> list[str]:
    """The stemmed words of a text, without stop words."""
    return [stem(word) for word in words_of_text(text) if word not in STOP_WORDS]


@dataclass(frozen=True)
class ArticleIndex:
    """A searchable index of articles as TF-IDF vectors."""

    pages: tuple[Page, ...]

    @cached_property
    def _fitted(self) -> tuple[Any, Any]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = [article_text(page) for page in self.pages]
        if not any(stems_of_text(text) for text in texts):
            raise InputError(f"{len(self.pages)} articles without a word to compare; expected articles with titles and steps")
        vectorizer = TfidfVectorizer(tokenizer=stems_of_text, token_pattern=None, sublinear_tf=True)
        return vectorizer, vectorizer.fit_transform(texts)

    def similarities(self, text: str) -> npt.NDArray[np.float64]:
        """(articles,): cosine of a text with every article; words outside the vocabulary get the largest IDF and match nothing."""
        vectorizer, vectors = self._fitted
        known = vectorizer.vocabulary_
        counts = Counter(stems_of_text(text))
        weights = {
            w: (1 + np.log(n)) * (vectorizer.idf_[known[w]] if w in known else vectorizer.idf_.max()) for w, n in counts.items()
        }
        length = np.sqrt(sum(weight**2 for weight in weights.values()))
        query = np.zeros(len(known))
        for word in sorted(set(weights) & set(known)):
            query[known[word]] = weights[word] / length
        return np.asarray(vectors @ query, dtype=np.float64)

    def page_titled(self, title: str) -> Page | None:
        """The article with a title, ignoring case, or None."""
        return next((page for page in self.pages if page.title.lower() == title.lower()), None)


def article_text(page: Page) -> str:
    """Title and paragraphs as one text, with the title three times."""
    return " ".join([*[page.title] * _TITLE_WEIGHT, *(sentence for paragraph in page.paragraphs for sentence in paragraph)])


def related_tasks(
    index: ArticleIndex,
    title: str,
    steps: Sequence[str] = (),
    top: int = 10,
    results: Mapping[str, Sequence[str]] | None = None,
) -> list[RelatedTask]:
    """Articles most similar to a task, best first, without the task itself and its near duplicates.

    The query is the article with that title if the index has one, else the title and steps. `results` are ids of search results by
    title in lower case: tasks with common search results are near duplicates, too (as in the paper).
    """
    searched = results or {}
    own = index.page_titled(title)
    text = article_text(own) if own is not None else " ".join([*[title] * _TITLE_WEIGHT, *steps])
    names = list(steps) or (draft_steps([p[0] for p in own.paragraphs if p]) if own is not None else [title])
    components = {part for step in names for part in stems_of_step(step)}
    similarities = index.similarities(text)
    found: list[RelatedTask] = []
    for number in np.argsort(-similarities, kind="stable"):
        page, similarity = index.pages[number], float(similarities[number])
        if similarity < LEAST_SIMILARITY or len(found) == top:
            break
        if is_near_duplicate(title, page.title, similarity if own is not None else 0.0):
            continue
        if common_results_share(searched.get(title.lower(), ()), searched.get(page.title.lower(), ())) >= _SAME_RESULTS:
            continue
        drafted = draft_steps([paragraph[0] for paragraph in page.paragraphs if paragraph])
        shared = components & {part for step in drafted for part in stems_of_step(step)}
        found.append(RelatedTask(page.title, similarity, tuple(sorted(shared)), tuple(drafted)))
    return found


def is_near_duplicate(title: str, other: str, similarity: float = 0.0) -> bool:
    """True if two articles describe the same task: titles with the same content words, or nearly equal texts.

    >>> is_near_duplicate("Jack Up a Car", "Use a Car Jack"), is_near_duplicate("Make Pancakes", "Make Waffles")
    (True, False)
    """
    first, second = _content_stems(title), _content_stems(other)
    overlap = len(first & second) / max(1, len(first | second))
    return overlap >= _SAME_TITLE or similarity >= _SAME_TEXT


def _content_stems(title: str) -> set[str]:
    words = words_of_text(title)
    return {stem(word) for word in words if word not in STOP_WORDS} or {stem(word) for word in words}


def common_results_share(first: Sequence[str], second: Sequence[str], top: int = 30) -> float:
    """The share of the top search results that two tasks have in common.

    >>> common_results_share(["a", "b"], ["b", "c"])
    0.5
    """
    a, b = set(first[:top]), set(second[:top])
    return len(a & b) / max(1, min(len(a), len(b)))
