"""A synthetic corpus whose truth is known: composable steps, CrossTask's statistics, features of any width."""

from crosstask.sources.planted.corpus import plant, plant_with_permuted_names, plant_without_features, write_planted
from crosstask.sources.planted.matched import MATCHED, MatchedDifficulty
from crosstask.sources.planted.measured import MEASURED, MeasuredDifficulty
from crosstask.sources.planted.settings import DIFFICULTIES, SHAPES, Difficulty, Shape

__all__ = [
    "DIFFICULTIES",
    "MATCHED",
    "MEASURED",
    "SHAPES",
    "Difficulty",
    "MatchedDifficulty",
    "MeasuredDifficulty",
    "Shape",
    "plant",
    "plant_with_permuted_names",
    "plant_without_features",
    "write_planted",
]
