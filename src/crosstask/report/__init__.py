"""A run folder -> figures and one HTML file without scripts or network access."""
