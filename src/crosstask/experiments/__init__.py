"""Splits, evaluation, and one file per question of the paper."""
