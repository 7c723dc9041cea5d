"""A synthetic corpus with known truth: steps that share words across tasks, statistics of the release, features of any width."""

from crosstask.synthetic.corpus import (
    generate_corpus,
    generate_with_permuted_names,
    generate_without_features,
    permuted_tasks,
    write_synthetic,
)
from crosstask.synthetic.settings import DIFFICULTIES, SHAPES, Difficulty, Shape

__all__ = [
    "DIFFICULTIES",
    "SHAPES",
    "Difficulty",
    "Shape",
    "generate_corpus",
    "generate_with_permuted_names",
    "generate_without_features",
    "permuted_tasks",
    "write_synthetic",
]
