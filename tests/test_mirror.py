"""The tests of a module are where its name says: tests/PACKAGE/test_MODULE.py tests src/crosstask/PACKAGE/MODULE.py, or the folder MODULE."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "crosstask"
TESTS_OF_NO_SINGLE_MODULE = {
    "building": "the wheel and the source distribution, installed",
    "cli/test_verbs.py": "what all verbs have in common",
    "export/test_crafted_run_folders.py": "run folders that somebody else wrote, through every format",
    "methods/test_divergence.py": "features too large for the arithmetic, for every method",
    "docs": "the manual and the index of results",
    "faults": "kills, failing disks, memory and load, over many modules",
    "fuzz": "hostile and inconsistent files, over all readers",
    "pipeline/test_killed_runs.py": "all stages of a run, killed",
    "pipeline/test_one_writer.py": "the locks of all stages",
    "viewer/test_corrections.py": "corrections in a browser, from the keyboard to the exports",
}
TEST_FILES = sorted(path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py") if path.parent != TESTS)
PACKAGES = sorted({path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if path.parent != SOURCE})


def is_exception(path: str) -> bool:
    return path in TESTS_OF_NO_SINGLE_MODULE or path.split("/")[0] in TESTS_OF_NO_SINGLE_MODULE


@pytest.mark.parametrize("path", [path for path in TEST_FILES if not is_exception(path)])
def test_a_test_file_is_named_after_what_it_tests(path):
    folder, _, name = path.rpartition("/")
    module = SOURCE / folder / name.removeprefix("test_")
    assert module.is_file() or module.with_suffix("").is_dir(), f"tests/{path} tests no module of src/crosstask/{folder}"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_a_folder_of_tests(package):
    assert list((TESTS / package).glob("test_*.py")), f"tests/{package} has no tests"


def test_every_exception_exists():
    assert [path for path in TESTS_OF_NO_SINGLE_MODULE if not (TESTS / path).exists()] == []
