"""`crosstask corpus ...`: related tasks, and the similarity of the tasks of a corpus."""

from pathlib import Path
from typing import Annotated

import typer

from crosstask.cli.corpus_collecting import (
    Articles,
    ResultsFolder,
    candidates,
    refuse_other_figures,
    relevance,
    search,
    task_named,
)
from crosstask.cli.corpus_convert import convert
from crosstask.cli.options import AsJson, CorpusFolder, Seed
from crosstask.cli.output import note, print_json, print_table, say
from crosstask.cli.ranges import checked

corpus_app = typer.Typer(
    help="Build a corpus: tasks, related tasks, videos, the map of tasks.", no_args_is_help=True, rich_markup_mode=None
)
corpus_app.command("candidates")(checked(candidates))


@corpus_app.command("related")
@checked
def related(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Title of the task, e.g. 'Make Pancakes'.")],
    articles: Articles,
    corpus: Annotated[Path | None, typer.Option("--corpus", help="Corpus that lists the task: its steps join the query.")] = None,
    steps: Annotated[str | None, typer.Option("--steps", help='Steps of the task: "pour milk, whisk egg".')] = None,
    results: ResultsFolder = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many to list.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Rank how-to articles by how related they are to a task, with a step list to start from; a person decides.

    Example: crosstask corpus related "Make Pancakes" --articles articles.json
    """
    from crosstask.corpus_building.related import ArticleIndex, related_tasks
    from crosstask.corpus_building.search_results import read_results_by_title
    from crosstask.text.encoders.articles import read_articles

    searched = None if results is None else read_results_by_title(results)
    index = ArticleIndex(tuple(read_articles(articles)))
    found = related_tasks(index, title, _steps_of(title, corpus, steps), top, searched)
    if as_json:
        print_json({"query": title, "related": [task.to_json() for task in found]})
        return
    if not found:
        note(f"nothing related to '{title}' with any confidence; try --steps, or another wording")
    for task in found:
        say(f"{task.similarity:.2f}  {task.title}   (shares: {', '.join(task.shared_components) or 'no step words'})")
        say(f"      {', '.join(task.steps)}")


def _steps_of(title: str, corpus: Path | None, steps: str | None) -> tuple[str, ...]:
    from crosstask.records import task_from_steps

    if steps is not None:
        return task_from_steps(steps).steps
    return () if corpus is None else task_named(corpus, title).steps


@corpus_app.command("map")
@checked
def task_map(
    corpus: CorpusFolder,
    out: Annotated[Path | None, typer.Option("--out", help="Figure to write (PNG or SVG).")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Place the tasks of a corpus by the step words they share: nearest tasks, clusters, and a figure.

    Example: crosstask corpus map data/crosstask --out map.png
    """
    from crosstask.corpus_building.task_map import component_distances, compute_task_map, nearest_tasks
    from crosstask.datasets import open_corpus

    refuse_other_figures(out)
    tasks = list(open_corpus(corpus).tasks.values())
    distances = component_distances(tasks)
    drawn = compute_task_map(tasks, seed)
    near = {task.id: [other.title for other in nearest_tasks(tasks, distances, i)] for i, task in enumerate(tasks)}
    if out is not None:
        from crosstask.corpus_building.task_map import draw_map_figure

        draw_map_figure(out, tasks, drawn)
    if as_json:
        places = {task.id: [float(x) for x in place] for task, place in zip(tasks, drawn.positions, strict=True)}
        clusters = {task.id: int(c) for task, c in zip(tasks, drawn.clusters, strict=True)}
        print_json(
            {"nearest": near, "places": places, "clusters": clusters, "cluster_words": [list(w) for w in drawn.cluster_words]}
        )
        return
    rows = [[task.title, ", ".join(near[task.id])] for task in tasks if task.primary]
    print_table("nearest tasks by shared step words", ["task", "nearest"], rows)


corpus_app.command("search")(checked(search))
corpus_app.command("relevance")(checked(relevance))
corpus_app.command("convert")(checked(convert))
