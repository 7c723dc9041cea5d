"""Arrays to parameters: the component model, its loss, and the alternation that learns it. Knows no videos, only rows."""
