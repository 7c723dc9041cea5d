from crosstask.report.timeline import draw_timeline
from crosstask.runs import open_run
from runs.test_folder import tiny_run


def test_timeline_figures_are_written(tmp_path):
    folder, run, parses = tiny_run(tmp_path / "r")
    video, parse = run.videos[0], parses[0]
    scores = open_run(folder).scores("proposed", video.key)
    for ending in ("png", "svg"):
        path = tmp_path / f"t.{ending}"
        first = draw_timeline(path, "t", run.tasks["1"], scores, parse, video.truth, video.windows).read_bytes()
        assert len(first) > 1000
