"""A run folder as a page in the browser: watch, compare, try other steps, correct, annotate. Extra: serve.

`backend.ViewerBackend` holds the functions that compute or store something; they are passed in, so this package imports no model.
"""

from crosstask.viewer.backend import EditedLocalization, ViewerBackend
from crosstask.viewer.serving import serve, viewer_app

__all__ = ["EditedLocalization", "ViewerBackend", "serve", "viewer_app"]
