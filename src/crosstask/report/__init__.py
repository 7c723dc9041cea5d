"""A run folder to figures and one HTML file."""
