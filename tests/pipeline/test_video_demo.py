import pytest

from crosstask.pipeline.video_demo import FilmSet, run_film_demo

pytest.importorskip("av", reason="extra video is not installed")


@pytest.mark.slow
def test_the_demonstration_goes_all_the_way_on_two_small_tasks(tmp_path):
    """Every stage on sound features alone, which need no weights: films, features, windows, training, comparison, run folder."""
    from contextlib import contextmanager

    from crosstask.pipeline.viewer_backend import build_backend, features_for_run
    from crosstask.runs import open_run

    stages = []

    @contextmanager
    def progress(what, total):
        stages.append(what)
        yield lambda: None

    films = FilmSet(videos_per_task=3, test_videos_per_task=1, n_tasks=2, features="log-mel")
    shown = run_film_demo(tmp_path, 1, progress, films=films)
    assert stages == ["rendering", "extracting", "narrating", "training", "localising"]
    assert set(shown.methods) == {"uniform", "hmm, no sharing", "hmm"} and set(shown.left_out) == {"latte", "omelette"}
    assert len(shown.result.model.trained_on) == 4 and not shown.result.model.trained_on & set(shown.tested)
    run = open_run(tmp_path).run
    assert run.synthetic and [video.key for video in run.videos] == list(shown.tested) and run.results["hmm"]["videos"] == 2
    assert run.methods == ("hmm", "hmm, task left out", "hmm, no sharing", "uniform")
    report = (tmp_path / "report.html").read_text("utf-8")
    assert report.count("never trained on this task") == 2 and report.count("data:image/jpeg;base64,") >= 12
    assert "over the 2 videos held back from training" in report and len(report) < 5_000_000
    backend = build_backend(open_run(tmp_path), tmp_path / "model.safetensors", features_for_run(open_run(tmp_path), None))
    assert backend.localizes_new_steps, "the features lie in the corpus of the run folder"
    assert backend.learning is None and "held back from training" in backend.why_not_learning
