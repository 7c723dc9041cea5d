"""Speech and step names in different languages."""

from crosstask.narration.language import language_of, why_languages_differ
from crosstask.records import Narration, Word, task_from_steps

GERMAN = "jetzt schlagen wir die Eier in die Schüssel und rühren sie mit der Milch um"


def said(text, language=None):
    return Narration(tuple(Word(word, i, i + 1) for i, word in enumerate(text.split())), language=language)


def test_what_the_subtitles_state_goes_before_what_their_words_suggest():
    assert language_of(said(GERMAN)) == "de" and language_of(said(GERMAN, "nl")) == "nl"
    assert language_of(said(GERMAN, "part2")) == "de" and language_of(said("tofu")) is None


def test_different_languages_are_named():
    reason = why_languages_differ(said(GERMAN), task_from_steps("crack eggs, pour milk"))
    assert reason == "the speech is in German, the step names are in English; write the steps in German"
    assert why_languages_differ(said(GERMAN), task_from_steps("Eier aufschlagen, Milch eingießen")) == ""
    assert why_languages_differ(said("now crack the eggs into the bowl"), task_from_steps("crack eggs, pour milk")) == ""


def test_steps_of_unknown_language_must_share_a_word_with_foreign_speech():
    assert "no word of any step name is said" in why_languages_differ(said(f"{GERMAN} " * 5), task_from_steps("zip, zap"))
    assert why_languages_differ(said(f"{GERMAN} " * 5), task_from_steps("Schüssel, zap")) == ""
    assert why_languages_differ(said(GERMAN), task_from_steps("zip, zap")) == ""  # too few words to judge
