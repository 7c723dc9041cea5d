"""A run folder as a page in the browser: watch, compare, try other steps, correct, annotate. Extra: serve.

`backend.ViewerBackend` holds what the page may do beyond reading: those functions come from outside, so this room trains, scores and decides nothing.
"""

from crosstask.viewer.backend import Reparsed, ViewerBackend
from crosstask.viewer.serving import serve, viewer_app

__all__ = ["Reparsed", "ViewerBackend", "serve", "viewer_app"]
