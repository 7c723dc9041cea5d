"""`crosstask corpus candidates`, `search` and `relevance`: which tasks, and which videos of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crosstask.cli.options import AsJson
from crosstask.cli.output import note, percent, print_json, say

if TYPE_CHECKING:
    from crosstask.corpus_building.purity import PurityCurve
    from crosstask.records import Narration, Task

Articles = Annotated[Path, typer.Option("--articles", help='JSON: [{"title", "steps": [{"headline", "sentences"}]}].')]
Results = Annotated[Path, typer.Option("--results", help="yt-dlp's JSON or JSON lines, or a plain list of ids or addresses.")]
ResultsFolder = Annotated[
    Path | None, typer.Option("--results", help="Folder of search results, one file a title: 'Make Pancakes.json'.")
]
KnownIn = Annotated[Path | None, typer.Option("--corpus", help="Corpus that lists the task.")]
MarksFile = Annotated[Path | None, typer.Option("--marks", help="Marked results, best first: video,1 or task,video,0 a line.")]


def candidates(
    articles: Articles,
    results: ResultsFolder = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many to list.")] = 50,
    every: Annotated[bool, typer.Option("--all", help="List the refused ones as well, with the reason.")] = False,
    as_json: AsJson = False,
) -> None:
    """Filter how-to articles by the paper's criteria, as far as text tells them: hands-on, in order, frequent; a person decides.

    Example: crosstask corpus candidates --articles articles.json --top 20
    """
    from crosstask.corpus_building.candidates import rank_candidates as judge
    from crosstask.corpus_building.search_results import read_results_by_title
    from crosstask.text.encoders.articles import read_articles

    counts = None if results is None else {title: len(ids) for title, ids in read_results_by_title(results).items()}
    judged = judge(read_articles(articles), counts)
    kept = [one for one in judged if one.kept]
    listed = (judged if every else kept)[:top]
    if as_json:
        print_json({"articles": len(judged), "fit": len(kept), "candidates": [one.to_json() for one in listed]})
        return
    for one in listed:
        say(f"{percent(one.physical):>5} % hands-on  {percent(one.ordered):>5} % in order  {one.title}   ({one.reason})")
        say(f"      {', '.join(one.steps)}")
    note(f"{len(kept)} of {len(judged)} articles fit; a person decides")


def search(
    task: Annotated[str, typer.Argument(metavar="TASK", help="Id (or, with --corpus, title) of the task.")],
    results: Results,
    top: Annotated[int, typer.Option("--top", min=1, help="How many videos to take; the paper takes 30.")] = 30,
    shortest: Annotated[float, typer.Option("--shortest", min=0, help="Leave out videos shorter than this many seconds.")] = 0,
    longest: Annotated[float, typer.Option("--longest", min=1, help="Leave out videos longer than this many seconds.")] = 36000,
    corpus: KnownIn = None,
    out: Annotated[Path | None, typer.Option("--out", help="videos.csv to add the rows to; rows in it stay.")] = None,
    as_json: AsJson = False,
) -> None:
    """Turn a list of search results into videos of a task: rows task,video,url as videos.csv has them.

    Example: crosstask corpus search pancakes --results results.json --top 30 --out my-corpus/videos.csv
    """
    from dataclasses import asdict

    from crosstask.corpus_building.search_results import read_search_results, videos_from_results
    from crosstask.records import InputError, refuse_escaping_id

    known = None if corpus is None else task_named(corpus, task)
    name = refuse_escaping_id(task if known is None else known.id, "task")
    found = read_search_results(results)
    videos = videos_from_results(name, found, top, shortest, longest)
    if with_comma := [part for video in videos for part in (video.task, video.id) if "," in part]:
        raise InputError(f"'{with_comma[0]}': a comma cannot stand in a row task,video,url; rename it")
    rows = [f"{video.task},{video.id},{video.url}" for video in videos]
    added = None if out is None else _add_rows(out, rows)
    if as_json:
        print_json({"task": name, "results": len(found), "videos": [asdict(video) for video in videos]})
    elif out is None:
        for row in rows:
            say(row)
    else:
        say(f"{out}: {added} rows added, {len(rows) - (added or 0)} were there already")
    if not videos:
        note(f"note: none of the {len(found)} results fits")


def refuse_other_figures(out: Path | None) -> None:
    """An error for a figure that is neither PNG nor SVG, or would overwrite a file of another kind, before it is drawn."""
    from crosstask.records import InputError
    from crosstask.storage import open_regular

    if out is None:
        return
    if out.suffix not in (".png", ".svg"):
        raise InputError(f"--out {out}: a figure cannot be written as '{out.suffix}'; expected a name with .png or .svg")
    if out.exists():
        with open_regular(out) as file:
            start = file.read(1000)
        if start and not (start.startswith(b"\x89PNG") if out.suffix == ".png" else b"<svg" in start):
            raise InputError(f"--out {out}: not a picture of this format, and would be overwritten; expected a new name")


def _add_rows(path: Path, rows: list[str]) -> int:
    """How many rows were new; the file keeps what it has, in its order."""
    from crosstask.records import InputError, at_line
    from crosstask.storage import nonblocking_lock, read_text, refuse_special_file, write_text

    refuse_special_file(path)
    with nonblocking_lock(path):
        try:
            there = read_text(path).removesuffix("\n").split("\n") if path.exists() else []
        except UnicodeDecodeError:
            raise InputError(f"{path}: not UTF-8 text, so that no rows can be added; save it as UTF-8") from None
        for number, line in enumerate(there, start=1):
            if line.count('"') % 2 or (line.strip() and line.count(",") < 2):
                raise at_line(
                    path, number, f"found {line[:60]!r}; expected task,video,url: rows are added to a list of videos alone"
                )
        keys = {tuple(line.split(",")[:2]) for line in there}
        new = [row for row in rows if tuple(row.split(",")[:2]) not in keys]
        if new or not path.exists():
            write_text(path, "".join(f"{line}\n" for line in [*there, *new]))
        return len(new)


def task_named(corpus: Path, name: str) -> "Task":
    """The task of that id or title, or an error that names some."""
    from crosstask.datasets import open_corpus
    from crosstask.records import InputError

    opened = open_corpus(corpus)
    for task in opened.tasks.values():
        if name.lower() in (task.title.lower(), task.id.lower()):
            return task
    some = ", ".join(f"'{task.title}'" for task in list(opened.tasks.values())[:3])
    raise InputError(f"task '{name}' is not in corpus '{opened.name}'; expected an id or title of its tasks, such as {some}")


def relevance(
    corpus: Annotated[Path | None, typer.Argument(metavar="CORPUS", help="Corpus with the task and subtitles.")] = None,
    task: Annotated[str | None, typer.Option("--task", help="Id or title of the task to rank videos for.")] = None,
    subtitles: Annotated[
        Path | None, typer.Option("--subtitles", help="Folder of VIDEO.vtt to rank instead of the task's own videos.")
    ] = None,
    marks: MarksFile = None,
    least: Annotated[float, typer.Option("--least", min=0, max=1, help="Purity at which to cut [paper: 0.56].")] = 0.56,
    out: Annotated[Path | None, typer.Option("--out", help="Figure of purity against N (PNG or SVG); needs --marks.")] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many ranked videos to print.")] = 30,
    as_json: AsJson = False,
) -> None:
    """Rank unknown videos by how much of the step list is spoken, in order; from marks, where to cut a search list.

    Example: crosstask corpus relevance my-corpus --task pancakes --subtitles found/

    Example: crosstask corpus relevance --marks marks.csv --out purity.png
    """
    from crosstask.corpus_building.purity import draw_purity, purity_curve, read_marks, rerank
    from crosstask.records import InputError

    if corpus is None and marks is None:
        raise InputError("nothing to judge; expected CORPUS with --task, or --marks FILE, or both")
    if out is not None and marks is None:
        raise InputError(f"--out {out}: the figure needs marks; expected --marks FILE")
    refuse_other_figures(out)
    answer: dict[str, Any] = {}
    curves: dict[str, PurityCurve] = {}
    marked = {} if marks is None else read_marks(marks)
    if marked:
        curves["as searched"] = purity_curve(marked)
    if corpus is not None:
        if task is None:
            raise InputError(f"{corpus}: which task? expected --task with an id or title")
        ranked = _ranked(corpus, task, subtitles)
        answer["task"], answer["videos"] = task, ranked
        if marked:
            scores = {row["video"]: row["relevance"] for row in ranked}
            curves["by narration"] = purity_curve({name: rerank(one, scores) for name, one in marked.items()})
    if out is not None:
        draw_purity(out, curves, least)
    answer |= {"purity": {name: _curve_json(curve, least) for name, curve in curves.items()}} if curves else {}
    if as_json:
        print_json(answer)
    else:
        _print_relevance(answer, top)


def _ranked(corpus: Path, name: str, subtitles: Path | None) -> list[dict[str, Any]]:
    from dataclasses import asdict

    from crosstask.corpus_building.relevance import rank_by_narration, stem_weights
    from crosstask.datasets import open_corpus
    from crosstask.datasets.subtitle_folders import SubtitleFolders
    from crosstask.records import InputError

    task = task_named(corpus, name)
    opened = open_corpus(corpus)
    if subtitles is not None and not subtitles.is_dir():
        raise InputError(f"{subtitles}: no such folder; expected one with VIDEO.vtt, .srt or .json")
    said = opened.subtitles if subtitles is None else SubtitleFolders((subtitles,))
    names = sorted(said) if subtitles is not None else sorted({v.id for v in opened.videos_of(task.id) if v.id in said})
    narrations = _readable(said, names)
    if not narrations:
        raise InputError(
            f"{subtitles or corpus}: no subtitles of '{task.title}' that can be read; expected VIDEO.vtt, .srt or .json"
        )
    return [asdict(row) for row in rank_by_narration(narrations, task, stem_weights(opened.tasks.values()))]


def _readable(said: Any, names: list[str]) -> "dict[str, Narration]":
    """The narrations that can be read; of each other, why not."""
    from crosstask.records import InputError

    found = {}
    for name in names:
        try:
            found[name] = said[name]
        except InputError as error:
            note(f"warning: {error}; left out")
    return found


def _curve_json(curve: "PurityCurve", least: float) -> dict[str, Any]:
    cut = curve.suggested_cut(least)
    low, high = curve.interval(cut) if cut else (None, None)
    return {"purity": list(curve.purity), "videos": list(curve.videos), "cut": cut, "low": low, "high": high, "least": least}


def _print_relevance(answer: dict[str, Any], top: int) -> None:
    for row in answer.get("videos", [])[:top]:
        say(f"{row['relevance']:.2f}  {row['video']}   ({row['words']} words)")
    for name, curve in answer.get("purity", {}).items():
        cut = curve["cut"]
        if not cut:
            say(f"{name}: not even the first results reach {percent(curve['least'])} %")
            continue
        share = f"{percent(curve['purity'][cut - 1])} % relevant (95 %: {percent(curve['low'])} to {percent(curve['high'])})"
        say(f"{name}: take the first {cut} of each task: {share}, {curve['videos'][cut - 1]} videos")
