"""A folder of somebody else with links in the places where a verb writes: nothing behind a link is changed or removed."""

import shutil
from pathlib import Path

import pytest

from faults.verbs import VERBS, Workspace

pytestmark = pytest.mark.slow


def places_written(warm, workspace):
    """The files that a verb opens for writing or leaves behind, and their folders below the ones that the user names."""
    workspace.clear()
    done = warm.run(workspace.argv)
    assert done["code"] == 0, done["output"]
    top = workspace.corpus.parent
    opened = {Path(path) for path in done["opened"] if not path.endswith(".partial")} | {top / name for name in workspace.files()}
    files = sorted(path for path in opened if path.is_relative_to(top))
    named = {top, workspace.corpus, top / "films", top / "run", workspace.out, *workspace.out.iterdir()}
    folders = sorted({folder for path in files for folder in path.parents if folder.is_relative_to(top)} - named)
    assert files, "the verb writes nothing"
    return [path for path in files if path not in named], folders


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("verb", VERBS)
def test_files_that_are_links_are_replaced(verb, warm, tmp_path):
    warm.load(Workspace(tmp_path / "loading", verb).argv)
    workspace = Workspace(tmp_path / "bench", verb)
    files, _ = places_written(warm, workspace)
    precious = tmp_path / "precious"
    precious.mkdir()
    for place in files:
        workspace.clear()
        (precious / "file").write_text("precious")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(precious / "file")
        done = warm.run(workspace.argv)
        assert done["code"] in (0, 2) and "Traceback" not in done["output"], (place, done["output"])
        assert contents(precious) == {"file": b"precious"}, place
        place.unlink(missing_ok=True)


@pytest.mark.parametrize("with_its_names", [False, True])
@pytest.mark.parametrize("verb", VERBS)
def test_nothing_is_changed_behind_a_folder_that_is_a_link(verb, with_its_names, warm, tmp_path):
    warm.load(Workspace(tmp_path / "loading", verb).argv)
    workspace = Workspace(tmp_path / "bench", verb)
    _, folders = places_written(warm, workspace)
    written = workspace.files() if with_its_names else ()
    for place in folders:
        workspace.clear()
        precious = tmp_path / "precious"
        shutil.rmtree(precious, ignore_errors=True)
        inner = f"{place.relative_to(workspace.corpus.parent)}/"
        names = [name.removeprefix(inner) for name in written if name.startswith(inner)]
        for name in [*names, "mine.csv", "mine.npy", "2024/mine.jpg"]:
            (precious / name).parent.mkdir(parents=True, exist_ok=True)
            (precious / name).write_text("precious")
        before = contents(precious)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(precious)
        done = warm.run(workspace.argv)
        assert done["code"] in (0, 2) and "Traceback" not in done["output"], (place, done["output"])
        followed = (
            verb == "export" or "crosstask_release" in place.parts
        )  # a user may link them: files are added, and none is changed
        after = contents(precious)
        assert (before.items() <= after.items()) if followed else after == before, place
        place.unlink(missing_ok=True)
