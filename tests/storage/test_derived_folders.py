import os
from pathlib import Path

import pytest

from crosstask.storage import derived_folder, existing_derived_folder


@pytest.fixture
def read_only(tmp_path, monkeypatch) -> Path:
    """A corpus that this user cannot write, with windows that somebody else made."""
    corpus = tmp_path / "shared"
    (corpus / ".crosstask" / "constraints").mkdir(parents=True)
    monkeypatch.setenv("CROSSTASK_CACHE", str(tmp_path / "cache"))
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not Path(path).resolve().is_relative_to(corpus) and allowed(path, mode))
    return corpus


def test_what_was_written_for_a_read_only_corpus_is_read_before_what_lies_in_it(read_only):
    assert existing_derived_folder(read_only, "constraints") == read_only / ".crosstask" / "constraints"
    written = derived_folder(read_only) / "constraints"
    written.mkdir()
    assert not written.is_relative_to(read_only)
    assert existing_derived_folder(read_only, "constraints") == written


def test_a_corpus_that_can_be_written_is_read_before_the_cache(read_only, monkeypatch):
    (derived_folder(read_only) / "constraints").mkdir()
    monkeypatch.undo()
    assert existing_derived_folder(read_only, "constraints") == read_only / ".crosstask" / "constraints"


def test_every_path_to_a_read_only_corpus_has_the_same_folder_in_the_cache(read_only, monkeypatch):
    link = read_only.with_name("link")
    link.symlink_to(read_only)
    monkeypatch.chdir(read_only)
    assert derived_folder(Path()) == derived_folder(link) == derived_folder(read_only)


def test_a_user_without_a_home_folder_has_a_cache_among_the_temporary_files(tmp_path, monkeypatch):
    """As in a container with an unknown uid and no HOME."""

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("CROSSTASK_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert existing_derived_folder(tmp_path / "corpus", "features").is_relative_to(tmp_path / f"crosstask-{os.getuid()}")
