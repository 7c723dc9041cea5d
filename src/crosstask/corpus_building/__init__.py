"""Building a corpus: related tasks from articles, drafted step lists, the task map, relevance of videos, download of the published parts."""
