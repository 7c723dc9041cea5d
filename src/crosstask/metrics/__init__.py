"""Predictions compared with annotation: one measure per file, with its convention in the docstring of the file."""
