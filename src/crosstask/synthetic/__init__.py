"""A synthetic corpus whose truth is known: composable steps, CrossTask's statistics, features of any width."""

from crosstask.synthetic.corpus import generate_corpus, generate_with_permuted_names, generate_without_features, write_synthetic
from crosstask.synthetic.matched import MATCHED, MatchedDifficulty
from crosstask.synthetic.measured import MEASURED, MeasuredDifficulty
from crosstask.synthetic.settings import DIFFICULTIES, SHAPES, Difficulty, Shape

__all__ = [
    "DIFFICULTIES",
    "MATCHED",
    "MEASURED",
    "SHAPES",
    "Difficulty",
    "MatchedDifficulty",
    "MeasuredDifficulty",
    "Shape",
    "generate_corpus",
    "generate_with_permuted_names",
    "generate_without_features",
    "write_synthetic",
]
