"""Plots of encoder training: learning curves, and sentence similarities of one page before and after."""

from pathlib import Path

from crosstask.text.encoders.articles import Page
from crosstask.text.encoders.protocol import Encoder
from crosstask.text.encoders.training import TrainingReport


def plot_training(report: TrainingReport, path: Path) -> None:
    """Write a plot of the training loss and the satisfied held-out triplets by epoch."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(range(1, len(report.loss) + 1), report.loss, marker="o")
    left.set(xlabel="epoch", ylabel="mean triplet loss", title="Training")
    right.plot(range(len(report.held_out_satisfied)), [100 * share for share in report.held_out_satisfied], marker="o")
    right.axhline(50, color="grey", linewidth=1, linestyle=":")
    right.set(xlabel="epoch", ylabel="percent", title=f"Triplets satisfied on {len(report.held_out_pages)} held-out pages")
    _save(figure, path)


def plot_paragraphs(page: Page, before: Encoder, after: Encoder, path: Path, max_sentences: int = 24) -> None:
    """Write a plot of the cosines between the sentences of a page, before and after training; paragraphs are framed."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    sentences = [(p, sentence) for p, group in enumerate(page.paragraphs) for sentence in group][:max_sentences]
    figure = Figure(figsize=(13, 0.24 * len(sentences) + 1.6), layout="constrained")
    axes = figure.subplots(1, 2)
    for axis, encoder, title in zip(axes, (before, after), ("max-pooled words", "learned"), strict=True):
        vectors = encoder.encode([sentence for _, sentence in sentences])
        axis.imshow(vectors @ vectors.T, cmap="viridis", vmin=-0.2, vmax=1)
        for p in sorted({p for p, _ in sentences}):
            first = next(i for i, (q, _) in enumerate(sentences) if q == p)
            n = sum(q == p for q, _ in sentences)
            axis.add_patch(Rectangle((first - 0.5, first - 0.5), n, n, fill=False, edgecolor="white", linewidth=2))
        axis.set(title=title, xticks=[], yticks=[])
    axes[0].set_yticks(range(len(sentences)), [f"{sentence[:48]}" for _, sentence in sentences], fontsize=7)
    figure.suptitle(f"'{page.title}': sentences of one paragraph (framed) should be similar, others dissimilar")
    _save(figure, path)


def _save(figure: object, path: Path) -> None:
    """Write the figure without date and version, so that equal figures are equal files."""
    from crosstask.storage import figure_bytes, write_bytes

    write_bytes(path, figure_bytes(figure, "png", 110, {"Software": None}))
