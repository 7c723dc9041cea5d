import csv
import io

import pytest

from crosstask.storage import csv_text, no_formula, number_or_text


@pytest.mark.parametrize("cell", ["=1+1", "+1 point", "-b", "@x", "\tx", "'=1", "''+x"])
def test_what_a_spreadsheet_would_compute_gets_a_quote(cell):
    assert no_formula(cell) == number_or_text(cell) == "'" + cell


@pytest.mark.parametrize("cell", ["pour milk", "", "a=b", "'tis", "105222"])
def test_other_text_stays(cell):
    assert no_formula(cell) == number_or_text(cell) == cell


def test_numbers_stay_numbers():
    row = ["-0.5", "+3", "-1e-05", -2, 0.25]
    (read,) = csv.reader(io.StringIO(csv_text([map(number_or_text, row)])))
    assert [float(cell) for cell in read] == [float(cell) for cell in row]
