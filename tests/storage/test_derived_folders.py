import os
from pathlib import Path

import pytest

from crosstask.storage import UnreadableFile, cache_folder, derived_folder, existing_derived_folder


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


def test_a_user_whose_home_folder_cannot_be_written_has_a_cache_among_the_temporary_files(tmp_path, monkeypatch):
    for name in ("CROSSTASK_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr(Path, "home", lambda: home)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cache_folder() == home / ".cache" / "crosstask"
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != home and allowed(path, mode))
    assert cache_folder() == tmp_path / f"crosstask-{os.getuid()}" and cache_folder().stat().st_mode & 0o777 == 0o700


def test_a_cache_among_the_temporary_files_that_somebody_else_made_is_not_used(tmp_path, monkeypatch):
    for name in ("CROSSTASK_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "theirs").mkdir()
    (tmp_path / f"crosstask-{os.getuid()}").symlink_to(tmp_path / "theirs")
    with pytest.raises(UnreadableFile, match="belongs to another user; name a folder for the cache: CROSSTASK_CACHE=FOLDER"):
        cache_folder()


def linked(tmp_path, *contents) -> Path:
    """A corpus whose `.crosstask` is a link to a folder with these contents."""
    for name in ("corpus", "disk", *(f"disk/{name}" for name in contents)):
        (tmp_path / name).mkdir()
    (tmp_path / "corpus" / ".crosstask").symlink_to(tmp_path / "disk")
    return tmp_path / "corpus"


@pytest.mark.parametrize("contents", [(), ("pack", "features")])  # the second: linked by a user of a version that made no mark
def test_derived_files_go_where_the_link_of_a_user_leads(tmp_path, contents):
    corpus = linked(tmp_path, *contents)
    derived_folder(corpus, "subtitles").mkdir()
    (tmp_path / "disk" / "later").mkdir()  # the folder is ours by now, whatever else is put there
    assert derived_folder(corpus, "subtitles").resolve() == tmp_path / "disk" / "subtitles"


def test_a_folder_with_other_files_is_not_taken_for_one_of_derived_files(tmp_path):
    with pytest.raises(UnreadableFile, match="a link to a folder with other files, such as photos; expected an empty folder"):
        derived_folder(linked(tmp_path, "photos"), "features")


def test_no_derived_folder_leads_elsewhere(tmp_path):
    (tmp_path / "photos").mkdir()
    (derived_folder(tmp_path) / "features").symlink_to(tmp_path / "photos")
    with pytest.raises(UnreadableFile, match=r"a link that leads out of \.crosstask; remove it, or link \.crosstask itself"):
        derived_folder(tmp_path, "features")
