"""The table of mutations fits the code: a row that matches nothing, or two places, would test nothing."""

from collections import Counter

import pytest

from faults.breaking import MUTATIONS, ROOT


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.safeguard)
def test_the_replaced_code_occurs_once_and_the_test_exists(mutation):
    text = (ROOT / "src" / "crosstask" / mutation.file).read_text("utf-8")
    assert text.count(mutation.old) == 1, (
        f"{mutation.old!r} occurs {text.count(mutation.old)} times in {mutation.file}; expected once"
    )
    compile(
        text.replace(mutation.old, mutation.new), mutation.file, "exec"
    )  # a mutation that is no Python fails for the wrong reason
    for test in mutation.test.split():
        file, _, name = test.partition("::")
        assert f"def {name.partition('[')[0]}" in (ROOT / file).read_text("utf-8")


def test_names_of_safeguards_are_unique():
    assert [name for name, n in Counter(m.safeguard for m in MUTATIONS).items() if n > 1] == []
