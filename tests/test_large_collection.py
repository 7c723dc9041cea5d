"""The main verbs on 2,000 short synthetic videos: `benchmarks/speed/collections.py` measures more of them; here everything must be complete."""

import shutil

import numpy as np
import pytest

from cli.running import crosstask, json_of
from crosstask.export import n_exported_files

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")
from benchmarks.speed.collections import N_SEGMENTS, N_TASKS, make_corpus, make_run

N_VIDEOS = 2000
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("large")


@pytest.fixture(scope="module")
def corpus(folder):
    make_corpus(folder / "corpus", N_VIDEOS)
    return folder / "corpus"


@pytest.fixture
def unpacked(corpus, tmp_path):
    """A copy of the corpus for a test that packs or changes it."""
    return shutil.copytree(corpus, tmp_path / "corpus", ignore=shutil.ignore_patterns(".crosstask"))


@pytest.fixture(scope="module")
def run(folder, corpus):
    make_run(folder / "run", make_corpus(corpus, N_VIDEOS))
    return folder / "run"


def test_counted_checked_and_packed_with_progress(unpacked):
    figures = json_of("stats", unpacked)
    assert sum(task["videos"] for task in figures["tasks"].values()) == N_VIDEOS == figures["overall"]["ids"]
    checked = crosstask("validate", unpacked)
    assert checked.returncode == 0 and "no problems" in checked.stdout
    assert f"checking features: {N_VIDEOS // 2} of {N_VIDEOS}" in checked.stderr
    packed = crosstask("pack", unpacked, "--check")
    assert packed.returncode == 0 and f"{N_VIDEOS} videos, {N_VIDEOS * N_SEGMENTS} rows" in packed.stdout
    assert f"packing: {N_VIDEOS} of {N_VIDEOS}" in packed.stderr


def test_an_added_video_is_appended_to_the_pack(unpacked):
    json_of("pack", unpacked)
    parts = sorted((unpacked / ".crosstask" / "pack").glob("rows-*.bin"))
    np.save(unpacked / "crosstask_features" / "added.npy", np.ones((N_SEGMENTS, 16), np.float16))
    with (unpacked / "crosstask_release" / "videos.csv").open("a") as videos:
        videos.write("0,added,http://example.org\n")
    assert json_of("pack", unpacked)["videos"] == N_VIDEOS + 1
    now = sorted((unpacked / ".crosstask" / "pack").glob("rows-*.bin"))
    added = [part for part in now if part not in parts]
    assert set(parts) < set(now) and [part.stat().st_size for part in added] == [N_SEGMENTS * 16 * 2]


@pytest.mark.parametrize("method", ["hmm", "zhukov19"])
def test_trained_and_evaluated(corpus, folder, method):
    settings = ("--learning-rate", 1e-2, "--initial-epochs", 2, "--epochs", 4) if method == "zhukov19" else ()
    model = folder / f"{method}.safetensors"
    trained = json_of("train", corpus, "--method", method, *settings, "--out", model)
    assert trained["videos"] >= N_VIDEOS and trained["tasks"] == N_TASKS
    found, uniform = json_of("evaluate", corpus, "--model", model), json_of("evaluate", corpus, "--method", "uniform")
    assert found["recall"]["mean"] > uniform["recall"]["mean"] + 0.1
    rows = corpus / "crosstask_features" / "v000000.npy"
    assert len(json_of("localize", model, rows, "--task", "0")[0]["steps"]) == 6


def test_every_file_is_exported(run, folder):
    exported = json_of("export", run, "--out", folder / "exports", "--format", "vtt", "--format", "json", "--format", "html")
    assert len(exported["files"]) == n_exported_files(["vtt", "json", "html"], N_VIDEOS) == 2 * N_VIDEOS + 2


def test_the_report_is_small_and_the_viewer_lists_all_videos_page_by_page(run):
    from fastapi.testclient import TestClient

    from crosstask.pipeline.viewer_backend import build_backend, features_for_run
    from crosstask.report.page import write_report
    from crosstask.runs import open_run
    from crosstask.viewer import viewer_app

    assert write_report(run).stat().st_size < 5_000_000
    opened = open_run(run)
    client = TestClient(viewer_app(opened, build_backend(opened, None, features_for_run(opened, None))), "http://127.0.0.1")
    first = client.get("/api/videos").json()
    assert first["total"] == N_VIDEOS and first["pages"] == N_VIDEOS / 25 and len(first["videos"]) == 25
    pages = [client.get("/api/videos", params={"page": page, "page_size": 200}).json() for page in range(1, N_VIDEOS // 200 + 1)]
    listed = [(video["task"], video["video"]) for page in pages for video in page["videos"]]
    assert listed == [(video.task, video.id) for video in opened.run.videos]
    found = client.get("/api/videos", params={"search": "v001999"}).json()
    assert [video["video"] for video in found["videos"]] == ["v001999"]
    assert len(client.get("/api/review", params={"n": 20}).json()["items"]) == 20
