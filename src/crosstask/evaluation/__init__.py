"""Training and test splits, evaluation of a scorer on annotated videos, and paired comparison over runs."""
