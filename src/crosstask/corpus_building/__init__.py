"""Building a corpus: related tasks from articles, step lists to start from, the map of tasks, which videos are relevant."""
