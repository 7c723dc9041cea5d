import pytest

from crosstask.datasets import open_corpus
from crosstask.datasets.corpus_writer import write_corpus
from crosstask.records import InputError
from tiny import tiny_corpus


@pytest.mark.parametrize("layout", ["release", "corpus.toml"])
@pytest.mark.parametrize("name", ["corpus.toml", "crosstask_release/tasks_primary.txt", "crosstask_release/videos.csv"])
def test_lists_that_cannot_be_read_are_not_overwritten(tmp_path, layout, name):
    """A person is writing them: a conversion that was killed leaves whole files."""
    mine = tmp_path / name
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("[tasks.tea\nsteps = [")
    with pytest.raises(InputError, match=r"holds another corpus, which cannot be read|tasks_primary\.txt, line"):
        write_corpus(tiny_corpus(), tmp_path, layout)
    assert mine.read_text() == "[tasks.tea\nsteps = [" and len(list(tmp_path.rglob("*.*"))) == 1


@pytest.mark.parametrize("layout", ["release", "corpus.toml"])
def test_a_conversion_that_was_killed_before_its_list_of_videos_is_repeated(tmp_path, layout):
    write_corpus(tiny_corpus(), tmp_path, layout)
    for path in tmp_path.rglob("videos.csv"):
        path.unlink()
    write_corpus(tiny_corpus(), tmp_path, layout)
    assert len(open_corpus(tmp_path).videos) == len(tiny_corpus().videos)
