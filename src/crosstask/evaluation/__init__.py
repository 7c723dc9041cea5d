"""Splits, evaluation of a scorer on annotated videos, and paired intervals."""
