"""Tables of the page of results about what a user of their own videos meets: narration, decoders, small collections, corrections, confidence."""

from collections.abc import Mapping
from typing import Any

from detailed_tables import interval, table
from tables import recorded

DECODERS = ("once", "swaps", "drops", "free")


def joint_table() -> str:
    """Recall of features, of narration and of both, by kind of windows."""
    rows = []
    for cell, kinds in recorded("joint-decoding")["cells"].items():
        for kind, of in kinds.items():
            recall = [f"{of['recall'][arm]:.1f}" for arm in ("uniform", "features", "narration", "joint")]
            rows.append([f"{cell}; {kind}", *recall, interval(of["joint - features"]), interval(of["joint - narration"])])
    header = ["held out; narration (`joint-decoding`)", "even spacing", "features", "narration", "both"]
    return table([*header, "both - features, points", "both - narration, points"], rows)


def small_collections_table() -> str:
    """Recall by number of training videos, with the interval of the difference to even spacing."""
    by_corpus = {**recorded("small-collections")["corpora"], "*synthetic* films": recorded("synthetic-spoken-films")["videos"]}
    arms = ("order alone", "windows", "windows, decoded with narration")
    rows = []
    for corpus, by_number in by_corpus.items():
        for number in sorted(by_number, key=int):
            of = by_number[number]
            shown = [
                f"{of['recall'][arm]:.1f}; {interval(of['less uniform'][arm])}" if arm in of["recall"] else "" for arm in arms
            ]
            if alone := of["less uniform"].get("subtitles alone"):
                shown[-1] = f"{of['recall']['subtitles alone']:.1f}; {interval(alone)}"
            rows.append([corpus, number, f"{of['recall']['uniform']:.1f}", *shown])
    header = ["corpus (`small-collections`, `synthetic-spoken-films`)", "training videos a task", "even spacing", *arms]
    return table(header, rows)


def decoders_table() -> str:
    """Recall, starts within 5 s and IoU of every decoder on the same scores; the method's own decoder in bold."""
    rows = []
    for cell, methods in recorded("decoders")["cells"].items():
        for method, of in methods.items():
            shown = []
            for decoder in DECODERS:
                values = " / ".join(f"{of['table'][decoder][metric]:.1f}" for metric in ("recall", "start_5s", "iou"))
                own = decoder == of["own decoder"]
                gain = "" if own else f"; {interval(of['recall less own decoder, points'][decoder])}"
                shown.append(f"**{values}**" if own else values + gain)
            rows.append([cell, f"`{method}`", *shown])
    return table(["held-out people (`decoders`)", "method", *(f"`{decoder}`" for decoder in DECODERS)], rows)


def corrections_table() -> str:
    """Recall of unseen people by number of corrected videos a task."""
    rows = []
    for corpus in ("breakfast", "captaincook"):
        data = recorded("corrections")[corpus]
        for number in ("0", "1", "2", "3", "5", "10", "all"):
            cells = []
            for kind in ("moments", "intervals"):
                key = "0" if number == "0" else f"{number} {kind}"
                points = "" if number == "0" else f"; {interval(data['points over tasks'][f'{key} - 0'])}"
                cells.append(f"{100 * data['recall'][key]:.1f}{points}")
            rows.append([corpus, number, *cells])
        other = data["points over tasks"]["other tasks corrected - 0"]
        rows.append([corpus, "all, but of other tasks only", "", f"{interval(other)} points"])
    header = ["corpus (`corrections`)", "corrected videos a task", "one moment a step; gain", "intervals; gain"]
    return f"{table(header, rows)}\n\n{one_video_again()}"


def one_video_again() -> str:
    """One corrected video against none on splits that were never looked at, with two kinds of intervals and a test."""
    lines = []
    for what, by_corpus in recorded("corrections").items():
        if what.startswith("one corrected video"):
            seeds = what.removeprefix("one corrected video, ")
            lines += [
                [corpus, seeds, kind, *gain_of_one_video(gains[f"1 {kind} - 0"])]
                for corpus, gains in by_corpus.items()
                for kind in ("moments", "intervals")
            ]
    header = ["one corrected video, 12 further splits each", "splits", "labels", "gain, Student's t over tasks"]
    return table([*header, "bootstrap over tasks", "tasks above 0", "p of the sign-flip test"], lines)


def gain_of_one_video(gain: Mapping[str, Any]) -> list[str]:
    """The gain with both intervals, the tasks won, and the p-value."""
    (low, high), p = gain["bootstrap"], gain["p of the sign-flip test"]
    won = f"{gain['tasks_above']} of {gain['tasks']} tasks"
    return [interval(gain), f"[{low:+.1f}, {high:+.1f}]", won, f"{p:.3f}" if p >= 0.001 else "< 0.001"]


def confidence_table() -> str:
    """Calibration of confidence, fitted on other corpora."""
    rows = []
    for corpus, kinds in recorded("confidence")["corpora"].items():
        for kind in ("features", "joint"):
            of, after = kinds[kind]["calibration of the other corpora"], kinds[kind]["after 30 corrections"]
            scores = [f"{of['brier']:.3f}", f"{of['brier of the base rate']:.3f}", f"{of['auroc']:.2f}", f"{of['ece']:.3f}"]
            rows.append([corpus, "features and narration" if kind == "joint" else "features", *scores, f"{after['ece']:.3f}"])
    header = ["corpus (`confidence`)", "decoded from", "Brier score", "of the base rate", "AUROC", "calibration error"]
    return table([*header, "after 30 corrections"], rows)


def text_prior_table() -> str:
    """Recall with and without the meaning of step names, and with permuted words, by what is held out."""
    data = recorded("text-prior")
    arms = ("words and meaning", "words", "nothing shared", "words and meaning, permuted", "words, permuted")
    differences = data["words and meaning - other, points"]["words"]
    rows = [[cell, *(f"{of[arm]:.1f}" for arm in arms), interval(differences[cell])] for cell, of in data["recall"].items()]
    rows.append(["mean over rows", *[""] * len(arms), interval(differences["all"])])
    return table(["held out (`text-prior`)", *arms, "meaning - words alone, points"], rows)
