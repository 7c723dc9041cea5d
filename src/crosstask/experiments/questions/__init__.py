"""One file per question of the paper, and the table of them."""

from crosstask.experiments.questions.table import EXPERIMENTS, experiment_named

__all__ = ["EXPERIMENTS", "experiment_named"]
