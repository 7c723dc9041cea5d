"""Labels against annotation: numbers, each with its convention at the head of its file."""
