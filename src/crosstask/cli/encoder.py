"""`crosstask encoder train`: the paper's sentence encoder, trained on how-to articles."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crosstask.cli.options import AsJson, Seed
from crosstask.cli.output import note, print_json, say
from crosstask.cli.ranges import checked

if TYPE_CHECKING:
    from crosstask.text.encoders.articles import Page
    from crosstask.text.encoders.learned import LearnedEncoder
    from crosstask.text.encoders.training import TrainingReport
    from crosstask.text.encoders.word_vectors import WordVectors

_REPORT = ("training.json", "training.png", "paragraphs.png")
encoder_app = typer.Typer(help="Sentence encoders for narration.", no_args_is_help=True, rich_markup_mode=None)


@encoder_app.command("train")
@checked
def encoder_train(
    articles: Annotated[Path, typer.Option("--articles", help='JSON: [{"title", "steps": [{"headline", "sentences"}]}].')],
    out: Annotated[Path, typer.Option("--out", help="File to write (safetensors).")],
    word_vectors: Annotated[
        str,
        typer.Option("--word-vectors", help="GloVe or fastText file; or 'fasttext' / 'cooccurrence': trained on the given text."),
    ] = "cooccurrence",
    corpus: Annotated[
        Path | None, typer.Option("--corpus", help="Corpus whose subtitles join the articles when word vectors are made.")
    ] = None,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Passes over the articles.")] = 6,
    report: Annotated[Path | None, typer.Option("--report", help="Folder for curves and figures.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train the paper's sentence encoder on how-to articles: sentences of a paragraph near, of other paragraphs far.

    Example: crosstask encoder train --articles articles.json --word-vectors glove.6B.100d.txt --out encoder.safetensors
    """
    import numpy as np

    from crosstask.storage import refuse_other_content
    from crosstask.text.encoders.articles import read_articles
    from crosstask.text.encoders.learned import ENCODER_MARK, write_learned
    from crosstask.text.encoders.training import TrainingSettings, train_encoder

    refuse_other_content(out, ENCODER_MARK)
    pages = read_articles(articles)
    if report is not None:
        _refuse_other_files(report)
    table = table_for(word_vectors, corpus, pages)
    learnt, curves = train_encoder(
        pages,
        table,
        np.random.default_rng(seed),
        TrainingSettings(epochs=epochs),
        lambda epoch, loss, held: note(f"epoch {epoch} of {epochs}: loss {loss:.4f}, held-out triplets {100 * held:.1f} %"),
    )
    about = {"articles": len(pages), "seed": seed, **curves.to_json()}
    write_learned(out, learnt, about)
    if report is not None:
        write_report(report, learnt, curves, pages)
    if as_json:
        print_json({"encoder": str(out), **about})
    else:
        say(f"{out}: {len(table.words)} words, held-out triplets satisfied {100 * curves.held_out_satisfied[-1]:.1f} %")


def table_for(word_vectors: str, corpus: Path | None, pages: "list[Page]") -> "WordVectors":
    """Word vectors from a file, or made from the articles and, where a corpus is given, its subtitles."""
    from crosstask.text.encoders.cooccurrence import cooccurrence_vectors
    from crosstask.text.encoders.fasttext import train_word_vectors
    from crosstask.text.encoders.word_vectors import read_word_vectors

    if word_vectors not in ("fasttext", "cooccurrence"):
        return read_word_vectors(Path(word_vectors))
    documents = [" ".join(sentence for group in page.paragraphs for sentence in group) for page in pages]
    if corpus is not None:
        from crosstask.datasets import open_corpus

        subtitles = open_corpus(corpus).subtitles
        documents += [" ".join(word.text for word in subtitles[video].words) for video in subtitles]
    return train_word_vectors(documents, epochs=10) if word_vectors == "fasttext" else cooccurrence_vectors(documents)


def write_report(folder: Path, learnt: "LearnedEncoder", curves: "TrainingReport", pages: "list[Page]") -> None:
    """`training.json`, its curves as a figure, and a held-out page whose paragraphs should have come together."""
    from crosstask.storage import write_json
    from crosstask.text.encoders.training_plots import plot_paragraphs, plot_training
    from crosstask.text.encoders.word_vectors import MaxPooled

    write_json(folder / _REPORT[0], curves.to_json())
    plot_training(curves, folder / _REPORT[1])
    held = [page for page in pages if page.title in set(curves.held_out_pages)]
    shown = max(held, key=lambda page: (sum(len(group) >= 3 for group in page.paragraphs[:5]), page.title))
    plot_paragraphs(shown, MaxPooled(learnt.table), learnt, folder / _REPORT[2])


def _refuse_other_files(folder: Path) -> None:
    """An error where a report would overwrite files that are of no earlier one."""
    from crosstask.records import InputError
    from crosstask.storage import read_text

    taken = next((folder / name for name in _REPORT if (folder / name).exists()), None)
    try:
        earlier = taken is not None and "held_out_triplets_satisfied" in read_text(folder / _REPORT[0])
    except (OSError, UnicodeDecodeError):
        earlier = False
    if taken is not None and not earlier:
        raise InputError(
            f"--report {folder}: {taken.name} does not belong to an earlier report and would be overwritten; name another folder"
        )
