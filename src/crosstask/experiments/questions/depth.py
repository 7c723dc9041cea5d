"""Do deeper classifiers help? Linear against one and two hidden layers in the same alternation. Extra: deep."""

from crosstask.experiments.answering import Answer, answer_with_rows, summarise, write_answer
from crosstask.experiments.asking import Asked
from crosstask.experiments.settings import Setting

WIDTH = 256


def depth(asked: Asked) -> Answer:
    """Hidden layers, none to two, on this corpus."""
    hidden = {"linear": (), "one hidden layer": (WIDTH,), "two hidden layers": (WIDTH, WIDTH)}
    rows = [Setting(name, "deep", "component", "all", learning={"hidden": list(sizes)}) for name, sizes in hidden.items()]
    pairs = [("one hidden layer", "linear"), ("two hidden layers", "linear")]
    summary, results = summarise(asked, "depth", rows, pairs)
    return write_answer(asked, answer_with_rows(summary, "Depth of the classifier, in percent", results))
