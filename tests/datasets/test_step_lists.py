"""Step lists from files that people write."""

import pytest

from crosstask.datasets.step_lists import read_step_list
from crosstask.records import InputError


def test_bullets_numbers_and_headings_are_left_out(tmp_path):
    path = tmp_path / "steps.md"
    path.write_text("# Latte\n\n1. pour milk\n- [x] stir\n* serve\n")
    assert read_step_list(path) == ["pour milk", "stir", "serve"]


def test_the_first_column_of_a_table_without_its_head(tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text('step,note\n"stir, well",x\nserve,y\n')
    assert read_step_list(path) == ["stir, well", "serve"]


@pytest.mark.parametrize(
    "text",
    [
        "1,pour milk\n2,stir well\n",
        "1,pour milk\n,stir well\n",
        "step,name\n1,pour milk\n2,stir well\n",
        "number;step;note\n1;pour milk;x\n2;stir well;\n",
        'name\npour milk\n"stir\nwell"\n',
    ],
)
def test_the_names_in_a_table_are_not_its_numbers(tmp_path, text):
    (tmp_path / "steps.csv").write_text(text)
    assert read_step_list(tmp_path / "steps.csv") == ["pour milk", "stir well"]


def test_a_number_that_counts_no_lines_is_part_of_the_step(tmp_path):
    path = tmp_path / "steps.txt"
    path.write_text("Omelette\n2 eggs into the bowl\n10 minutes in the oven\n")
    assert read_step_list(path) == ["Omelette", "2 eggs into the bowl", "10 minutes in the oven"]
    path.write_text("#1 pour milk\n#2 stir\n")
    assert read_step_list(path) == ["pour milk", "stir"]
    path.write_text("1 pour milk\n2 stir\n")
    assert read_step_list(path) == ["pour milk", "stir"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.txt", b"\xff\xfe", "not UTF-8 text"),
        ("a.txt", b"\n\n", "no steps"),
        ("a.csv", b'"' + b"a" * 200_000 + b'"\n', "field larger than field limit"),
        ("a.txt", b"x" * 1_000_001, "expected a short list"),
    ],
)
def test_other_files_are_refused(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_step_list(tmp_path / name)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_other_encodings_are_refused_with_what_to_do(tmp_path, encoding):
    """UTF-16 without its mark is valid UTF-8, with a NUL after every letter."""
    (tmp_path / "steps.txt").write_bytes(
        "pour m\xe4lk".encode(encoding) if encoding == "latin-1" else "pour milk".encode(encoding)
    )
    with pytest.raises(InputError, match="not UTF-8 text; expected one step a line, saved as UTF-8"):
        read_step_list(tmp_path / "steps.txt")


@pytest.mark.parametrize(
    "text",
    [
        "id,action\n1,pour milk\n2,stir\n",
        "Nr.;Schritt\n1;pour milk\n2;stir\n",
        "#,instruction\n1.,pour milk\n2.,stir\n",
        "time,step\n0:10,pour milk\n0:20,stir\n",
        "action,no\npour milk,1\nstir,2\n",
        "1,pour milk\n2,stir\n",
        "pour milk,whole\nstir,\n",
    ],
)
def test_the_column_of_a_table_that_names_the_steps_is_taken(tmp_path, text):
    (tmp_path / "s.csv").write_text(text)
    assert read_step_list(tmp_path / "s.csv") == ["pour milk", "stir"]


def test_a_table_of_numbers_has_no_steps(tmp_path):
    (tmp_path / "s.csv").write_text("1,10\n2,20\n")
    with pytest.raises(InputError, match="no steps"):
        read_step_list(tmp_path / "s.csv")
