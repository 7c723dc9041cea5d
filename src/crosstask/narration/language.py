"""The language of a narration, and whether its words can match the names of the steps."""

from crosstask.records import Narration, Task
from crosstask.text.language import ENGLISH, SNOWBALL, common_words, detect_language, language_code, stemmer
from crosstask.text.stems import words_of_text

FEW_WORDS = 50  # of speech; in fewer, no word of any step may be said by chance


def language_of(narration: Narration) -> str | None:
    """The code of the language that the narration states, or else the one that its words suggest; None where neither is known."""
    return language_code(narration.language) or detect_language(_text(narration))


def why_languages_differ(narration: Narration, task: Task) -> str:
    """The reason why speech and step names are taken to be in different languages, or an empty string.

    Where the language of the step names cannot be told, and the speech is not English, a word of a step must be said.
    """
    spoken, written = language_of(narration), detect_language(" ; ".join(task.steps))
    if spoken is not None and written is not None and spoken != written:
        return f"the speech is in {_name(spoken)}, the step names are in {_name(written)}; write the steps in {_name(spoken)}"
    if spoken in (None, ENGLISH) or written is not None or len(narration.words) < FEW_WORDS:
        return ""
    stem_of, common = stemmer(str(spoken)), common_words(str(spoken))
    said = {stem_of(word) for word in words_of_text(_text(narration))}
    named = {stem_of(word) for step in task.steps for word in words_of_text(step) if word not in common}
    return "" if not named or named & said else f"no word of any step name is said; write the steps in {_name(str(spoken))}"


def _text(narration: Narration) -> str:
    return " ".join(word.text for word in narration.words)


def _name(code: str) -> str:
    return SNOWBALL.get(code, code).title()
