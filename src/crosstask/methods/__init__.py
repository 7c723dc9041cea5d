"""Corpus to model: every method behind two contracts."""

from crosstask.methods.contracts import Method, Scorer
from crosstask.methods.table import METHODS, method_named

__all__ = ["METHODS", "Method", "Scorer", "method_named"]
