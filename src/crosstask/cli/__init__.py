"""Arguments to one call. Nothing imports this room."""
