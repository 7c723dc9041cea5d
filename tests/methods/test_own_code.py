import sys

import pytest

from crosstask.methods.own_code import digest_of_own, load_own


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A file of the user's that imports a module of a package beside it, and that one another."""
    (tmp_path / "ownpackage").mkdir()
    (tmp_path / "ownpackage" / "__init__.py").write_text("")
    (tmp_path / "ownpackage" / "used.py").write_text("from . import deeper\nOFFSET = deeper.OFFSET\n")
    (tmp_path / "ownpackage" / "deeper.py").write_text("OFFSET = 0\n")
    (tmp_path / "ownpackage" / "unused.py").write_text("")
    (tmp_path / "mine.py").write_text("import numpy\nfrom ownpackage.used import OFFSET\nclass Mine:\n    offset = OFFSET\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith(("ownpackage", "crosstask_own_mine"))]:
        del sys.modules[name]


@pytest.mark.parametrize(("edited", "same"), [("used.py", False), ("deeper.py", False), ("unused.py", True)])
def test_the_digest_covers_the_users_modules_that_are_imported(folder, edited, same):
    name = f"{folder / 'mine.py'}:Mine"
    before = digest_of_own(name)
    assert load_own(name).offset == 0
    (folder / "ownpackage" / edited).write_text((folder / "ownpackage" / edited).read_text() + "OTHER = 1\n")
    assert (digest_of_own(name) == before) is same
