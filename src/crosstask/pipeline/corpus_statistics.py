"""What a corpus holds, in figures: the paper's Tables 1 and S2, and `crosstask stats`."""

from dataclasses import asdict
from typing import Any

from crosstask.metrics.statistics import (
    group_statistics,
    overall_statistics,
    shared_ids,
    task_statistics,
    task_statistics_to_json,
)
from crosstask.records import Corpus, Progress, no_progress
from crosstask.text import count_words, vocabulary_of


def corpus_statistics(corpus: Corpus, progress: Progress = no_progress) -> dict[str, Any]:
    """The figures of a corpus by task, by group of tasks, and overall: the JSON of `stats`."""
    tasks = list(corpus.tasks.values())
    rows = {}
    with progress("counting tasks", len(tasks)) as advance:
        for task in tasks:
            rows[task.id] = task_statistics(corpus, task)
            advance()
    groups = {
        "primary": [task for task in tasks if task.primary],
        "related": [task for task in tasks if not task.primary],
        "all": tasks,
    }
    counted = {
        name: asdict(group_statistics(corpus, members))
        | {"components": len(vocabulary_of(members).names), "words": count_words(members)}
        for name, members in groups.items()
    }
    every = counted["all"]
    return {
        "tasks": {task: task_statistics_to_json(row) for task, row in rows.items()},
        "groups": counted | {"overlap": {"ids": shared_ids(corpus)}},
        "overall": overall_statistics(list(rows.values()))
        | {"components": every["components"], "words": every["words"], "hours": every["hours"], "ids": every["ids"]},
    }
