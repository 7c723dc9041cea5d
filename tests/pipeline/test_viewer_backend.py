from fastapi.testclient import TestClient

from crosstask.pipeline import relearning
from crosstask.pipeline.viewer_backend import build_backend
from crosstask.records import NoFeatures
from crosstask.runs import open_run
from crosstask.viewer import viewer_app
from viewer.viewed import write_viewed_run


def test_a_correction_just_before_the_viewer_ends_reaches_the_report(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(relearning, "refresh_report", written.append)
    folder = write_viewed_run(tmp_path / "run")
    run = open_run(folder)
    backend = build_backend(run, None, NoFeatures())
    with TestClient(viewer_app(run, backend)):
        backend.labels_changed()
        assert written == []
    assert written == [folder]
    with TestClient(viewer_app(run, backend)):
        pass
    assert written == [folder], "nothing has changed since"
