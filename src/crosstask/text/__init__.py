"""Step names and sentences to arrays: stems, components, the kernel between classes, sentence encoders."""

from crosstask.text.components import SHARING, StepComponents, Vocabulary, count_words, steps_with_component, vocabulary_of
from crosstask.text.stems import stem, stems_of_step, words_of_step, words_of_text

__all__ = [
    "SHARING",
    "StepComponents",
    "Vocabulary",
    "count_words",
    "stem",
    "stems_of_step",
    "steps_with_component",
    "vocabulary_of",
    "words_of_step",
    "words_of_text",
]
