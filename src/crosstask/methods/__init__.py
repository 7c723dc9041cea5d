"""Corpus -> scorer: all methods behind two interfaces."""

from typing import TYPE_CHECKING, Any

from crosstask.methods.protocols import Method, Scorer

if TYPE_CHECKING:
    from crosstask.methods.table import METHODS, method_named, resolve_method

__all__ = ["METHODS", "Method", "Scorer", "method_named", "resolve_method"]


def __getattr__(name: str) -> Any:
    """The table of methods on first use: using a trained model does not load every method."""
    if name not in ("METHODS", "method_named", "resolve_method"):
        raise AttributeError(f"module 'crosstask.methods' has no attribute '{name}'")
    from crosstask.methods import table

    return getattr(table, name)
