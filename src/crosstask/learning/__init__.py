"""Arrays -> parameters: the default method, the paper's method and its baselines. Nothing here knows a `Video`."""
