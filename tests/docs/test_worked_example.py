"""The worked example of the manual: both of its tables are recomputed, by enumeration of all paths and by conditioning a Gaussian."""

import re
from pathlib import Path

import numpy as np

from oracles import Chain, hmm_posterior_by_enumeration

PAGE = (Path(__file__).parent.parent.parent / "docs" / "how-it-works.md").read_text("utf-8")


def rows_of(header: str) -> list[list[str]]:
    """The cells below the table whose header begins so."""
    table = PAGE.partition(f"| {header} |")[2].splitlines()[2:]
    rows = []
    for line in table:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def test_the_posterior_of_the_page_is_that_of_all_paths():
    rows = np.array(rows_of("second"), dtype=float)
    assert rows.shape == (5, 5)
    log_ratios = np.hstack([rows[:, 1:3], np.zeros((5, 1))])
    found = hmm_posterior_by_enumeration(log_ratios, Chain(np.array([0.5, 0.5]), 0.5, 0.5, np.array([0.7, 0.7])))
    assert np.abs(found.in_step - rows[:, 3:]).max() <= 0.005
    shown = re.search(r"shows them with probability ([\d.]+) and ([\d.]+)\.", PAGE)
    assert np.abs(found.p_shown - [float(shown[1]), float(shown[2])]).max() <= 0.005


def test_the_class_means_of_the_page_are_conditional_means():
    kernel = np.array([row[1:] for row in rows_of("k")], dtype=float)
    covariance = kernel + 0.2 * np.eye(3)
    rows = rows_of("class")
    labelled = [number for number, row in enumerate(rows) if row[1] != "-"]
    observed = np.array([float(rows[number][1]) for number in labelled])
    noise = (20 / 40 + 0.3) * np.eye(len(labelled))
    conditional = covariance[:, labelled] @ np.linalg.inv(covariance[np.ix_(labelled, labelled)] + noise) @ observed
    assert np.abs(conditional - [float(row[2]) for row in rows]).max() <= 0.0005
