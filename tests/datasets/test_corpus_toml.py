import pytest

from crosstask import open_corpus
from crosstask.datasets.corpus_toml import write_corpus_toml
from crosstask.records import InputError


def corpus_folder(tmp_path, text):
    (tmp_path / "corpus.toml").write_text(text, "utf-8")
    return tmp_path


def test_tasks_and_videos_of_a_folder(tmp_path):
    folder = corpus_folder(tmp_path, '[tasks.latte]\ntitle = "Make Latte"\nsteps = ["grind coffee", "pour milk"]\n')
    (folder / "videos" / "latte").mkdir(parents=True)
    (folder / "videos" / "latte" / "Mon café – 1.mp4").write_bytes(b"")
    (folder / "videos" / "latte" / "notes.txt").write_bytes(b"")
    corpus = open_corpus(folder)
    assert corpus.tasks["latte"].steps == ("grind coffee", "pour milk")
    assert [v.id for v in corpus.videos] == ["Mon café – 1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tasks", "corpus.toml"),
        ("", "no tasks"),
        ("[tasks.a]\ntitle='x'\n", "steps are missing"),
        ("[tasks.a]\nsteps=[]\n", "no steps"),
        ("[tasks.a]\nsteps=['x', ' ']\n", "step 2 is empty"),
        ("[tasks.a]\ntitel='X'\nsteps=['x']\n", "'titel' is unknown; expected title"),
        ("[tasks.a_b]\nsteps=['x']\n", "underscore"),
        ("[tasks.'../x']\nsteps=['x']\n", "cannot name a file"),
    ],
)
def test_invalid_tables_are_named(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        open_corpus(corpus_folder(tmp_path, text))


def test_write_and_read_round_trip(tmp_path):
    first = open_corpus(corpus_folder(tmp_path, '[tasks.a]\ntitle = "Ä \\"q\\""\nrelated = true\nsteps = ["x, y", "z"]\n'))
    write_corpus_toml(tmp_path / "corpus.toml", first.tasks)
    assert open_corpus(tmp_path).tasks == first.tasks
