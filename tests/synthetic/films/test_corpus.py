import pytest

from crosstask.records import InputError, VideoKey
from crosstask.synthetic.films.scripts import TASKS


def test_a_small_corpus_renders_to_the_same_bytes(tmp_path):
    pytest.importorskip("av", reason="extra video is not installed")
    from crosstask import open_corpus
    from crosstask.extraction.containers import probe
    from crosstask.synthetic.films.corpus import render_corpus

    for name in ("a", "b"):
        tested = render_corpus(tmp_path / name, seed=3, videos_per_task=2, test_videos_per_task=1, tasks=TASKS[:2])
    assert tested == [VideoKey("latte", "latte-01"), VideoKey("omelette", "omelette-01")]
    corpus = open_corpus(tmp_path / "a")
    assert len(corpus.videos) == 4 and set(corpus.annotations) == {v.key for v in corpus.videos}
    for video in corpus.videos:
        path = tmp_path / "a" / video.url
        assert path.read_bytes() == (tmp_path / "b" / video.url).read_bytes()
        end = max(s.interval.end_s for s in corpus.annotations[video.key])
        assert end <= probe(path).duration_s + 0.3 and corpus.subtitles[video.id].words


def test_a_corpus_of_somebody_else_is_not_overwritten(tmp_path):
    """`crosstask demo --out X` renders into X/corpus, which may be a folder of the user's."""
    pytest.importorskip("av", reason="extra video is not installed")
    from crosstask.synthetic.films.corpus import render_corpus

    (tmp_path / "corpus.toml").write_text("[tasks.tea]\n")
    with pytest.raises(InputError, match=r"holds corpus\.toml, and no films that were rendered here"):
        render_corpus(tmp_path, videos_per_task=1, test_videos_per_task=0, tasks=TASKS[:1])
    assert (tmp_path / "corpus.toml").read_text() == "[tasks.tea]\n" and not (tmp_path / "videos").exists()
    (tmp_path / "corpus.toml").unlink()
    for tasks in (TASKS[:1], TASKS[:1], TASKS[:2]):  # its own may be rendered again, and films be added
        render_corpus(tmp_path, videos_per_task=1, test_videos_per_task=0, tasks=tasks)


def test_a_rendered_corpus_that_was_edited_is_not_overwritten(tmp_path):
    pytest.importorskip("av", reason="extra video is not installed")
    from crosstask.synthetic.films.corpus import render_corpus

    render_corpus(tmp_path, videos_per_task=1, test_videos_per_task=0, tasks=TASKS[:1])
    (annotation,) = (tmp_path / "annotations").glob("*.csv")
    annotation.write_text("1,0,3\n")
    render_corpus(tmp_path, videos_per_task=1, test_videos_per_task=0, tasks=TASKS[:1])
    with pytest.raises(InputError, match="holds films of another --seed, which would be overwritten"):
        render_corpus(tmp_path, seed=1, videos_per_task=1, test_videos_per_task=0, tasks=TASKS[:1])
    assert annotation.read_text() == "1,0,3\n"
    described = tmp_path / "corpus.toml"
    described.write_text(edited := described.read_text() + "[tasks.tea]\n")
    with pytest.raises(InputError, match="edited since the films were rendered, and would be overwritten"):
        render_corpus(tmp_path, videos_per_task=1, test_videos_per_task=0, tasks=TASKS[:1])
    assert described.read_text() == edited
