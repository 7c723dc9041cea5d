"""Reader of how-to articles: one paragraph of sentences per step.

File: `[{"title", "steps": [{"headline", "sentences": [..]}]}]`. An entry of "sentences" may hold several sentences and is split.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crosstask.records import InputError, at_line
from crosstask.storage import read_text

_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(]?[A-Z0-9])")
EXPECTED = 'expected [{"title": "..", "steps": [{"headline": "..", "sentences": [".."]}]}]'


@dataclass(frozen=True)
class Page:
    """An article: its title and, for each step, its sentences (headline first)."""

    title: str
    paragraphs: tuple[tuple[str, ...], ...]


def split_sentences(text: str) -> list[str]:
    """Sentences of running text.

    >>> split_sentences("Chop it. Put it aside, for 2.5 minutes.")
    ['Chop it.', 'Put it aside, for 2.5 minutes.']
    """
    return [sentence for sentence in _END.split(text.strip()) if sentence]


def read_articles(path: Path) -> list[Page]:
    """The pages of an article file, in file order."""
    try:
        data = json.loads(read_text(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); {EXPECTED}") from error
    except json.JSONDecodeError as error:
        raise at_line(path, error.lineno, f"not valid JSON ({error.msg}); {EXPECTED}") from error
    except (ValueError, RecursionError) as error:
        raise at_line(path, 1, f"cannot be read ({error}); {EXPECTED}") from error
    if not isinstance(data, list):
        raise InputError(f"{path.name}: found a {type(data).__name__}; {EXPECTED}")
    return [_page(path, number, article) for number, article in enumerate(data, start=1)]


def _page(path: Path, number: int, article: Any) -> Page:
    try:
        title = article["title"]
        groups = [[step.get("headline", ""), *step.get("sentences", [])] for step in article["steps"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path.name}, article {number}: found {str(article)[:40]!r}; {EXPECTED}") from error
    if not isinstance(title, str) or not all(isinstance(text, str) for group in groups for text in group):
        raise InputError(f"{path.name}, article {number}: a title or sentence is not text; {EXPECTED}")
    return Page(title, tuple(_paragraph(group) for group in groups))


def _paragraph(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(sentence for text in texts for sentence in split_sentences(text))
