import warnings
import xml.etree.ElementTree as ET

import pytest

from crosstask.storage.figures import figure_bytes


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_names_in_any_script_are_drawn_without_a_warning_and_dollar_signs_are_no_formulas(ending):
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    axes = figure.subplots()
    axes.annotate("做咖啡 $\\nosuch$ \x00\x1b", (0.5, 0.5))
    axes.set_title("ชงกาแฟ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = figure_bytes(figure, ending, 100, {"Date" if ending == "svg" else "Software": None}, **{"svg.fonttype": "none"})
    if ending == "svg":
        ET.fromstring(drawn)
    assert ("做咖啡".encode() in drawn) == (ending == "svg")
