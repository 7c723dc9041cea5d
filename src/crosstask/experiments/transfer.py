"""The figure of Sec. 5.3: recall on tasks without training videos, as a function of the number of tasks trained on.

With related tasks: nested random subsets of them, redrawn per run, and no primary task. Without related tasks: every primary task is
localized by a model trained on (some of) the other primary tasks.
"""

import itertools

from crosstask.experiments.arms import Arm
from crosstask.experiments.figures import draw_lines
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.tables import ExperimentResult, result_table, run_and_summarise, write_result
from crosstask.records import InputError

SIZES = (5, 10, 20, 40, 65)  # paper, Sec. 5.3
REFERENCES = ("uniform", "trained on primary", "full")


def transfer(config: ExperimentConfig) -> ExperimentResult:
    """`experiment transfer`: the figure on this corpus."""
    corpus = config.open_first_corpus()
    n_related = sum(not task.primary for task in corpus.tasks.values())
    source, largest = ("related", n_related) if n_related else ("others", len(corpus.primary_tasks()) - 1)
    if largest < 1:
        raise InputError(f"corpus '{corpus.name}' has one task; transfer needs another to learn from")
    sizes = sorted({min(n, largest) for n in (*SIZES, largest)} | ({max(1, largest // 3)} if not n_related else set()))
    points = {n: f"{n} {'related tasks' if n_related else 'other tasks'}" for n in sizes}
    arms = [
        Arm("uniform", "uniform"),
        Arm("trained on primary", "zhukov19", "component", "primary"),
        *(Arm(points[n], "zhukov19", "component", source, n_tasks=n) for n in sizes),
    ]
    references: tuple[str, ...] = REFERENCES[:2]
    if n_related:
        arms.append(Arm("full", "zhukov19", "component", "all"))
        references = REFERENCES
    growing = [(points[b], points[a]) for a, b in itertools.pairwise(sizes)]
    pairs = [
        *growing,
        (points[sizes[-1]], points[sizes[0]]),
        (points[sizes[-1]], "uniform"),
        ("trained on primary", points[sizes[-1]]),
    ]
    summary, results = run_and_summarise(config, "transfer", arms, list(dict.fromkeys(pairs)))
    plain = result_table(summary, "Tasks never trained on, in percent", results)
    xlabel = f"{'related' if n_related else 'other'} tasks trained on"
    return write_result(config, plain, lambda c, s: draw_lines(c, s, points, references, xlabel))
