import errno
import json
import os
import threading

import numpy as np
import pytest

from crosstask.datasets import read_step_intervals
from crosstask.viewer.annotations import AnnotationStore
from tiny import TASKS
from viewer.viewed import FIRST, LINES, client_of, write_viewed_run


def spans(*triples):
    return [{"step": step, "start_s": start, "end_s": end} for step, start, end in triples]


def test_the_description_of_the_run(client):
    run = client.get("/api/run").json()
    assert run["title"] == "A tiny run" and run["synthetic"] and run["n_videos"] == 12
    assert [(t["title"], t["n_videos"]) for t in run["tasks"]] == [("Make Latte", 4), ("Make Tea", 4), ("Make Cocoa", 4)]
    assert [(s["id"], s["mean_recall_over_tasks"]) for s in run["sources"]] == [("this:supervised", 0.5), ("this:uniform", None)]
    assert run["parses_new_steps"]


def test_pages_of_the_list_contain_each_video_once(client):
    pages = [client.get("/api/videos", params={"page": page, "page_size": 5}).json() for page in (1, 2, 3)]
    assert {page["total"] for page in pages} == {12} and {page["pages"] for page in pages} == {3}
    listed = [(v["task"], v["video"]) for page in pages for v in page["videos"]]
    assert len(listed) == len(set(listed)) == 12
    assert client.get("/api/videos", params={"page": 99, "page_size": 5}).json() == pages[2]


@pytest.mark.parametrize(("search", "total"), [("latte", 4), ("V2_", 4), ("v2_1", 1), ("tea v2_1", 1), ("tea v1_1", 0), ("", 12)])
def test_search_covers_ids_and_titles(client, search, total):
    assert client.get("/api/videos", params={"search": search}).json()["total"] == total


def test_a_video_has_localizations_truth_windows_and_neighbours(client):
    video = client.get("/api/video", params={"task": "1", "video": "-v1_1"}).json()
    assert video["steps"] == list(TASKS["1"].steps) and video["n_segments"] == 40
    assert video["previous"] == FIRST and video["next"] == {"task": "1", "video": "-v1_2"}
    assert [span["step"] for span in video["truth"]] == [1, 2, 3]
    found = video["parses"]["this:supervised"]
    assert [step["step"] for step in found] == video["steps"]
    seconds = [step["moment_s"] for step in found]
    assert seconds == sorted(seconds)
    for step, truth in zip(found, video["truth"], strict=True):
        inside = int(truth["start_s"]) <= step["moment_s"] < truth["end_s"]
        assert step["verdict"] == ("right" if inside else "wrong")


def test_scores_are_those_of_the_run_step_by_step(client, folder):
    answer = client.get("/api/scores", params={**FIRST, "source": "this:supervised"}).json()
    kept = np.load(folder / "scores" / "supervised" / "1_-v1_0.npy", allow_pickle=False).astype(float)
    assert np.allclose(np.array(answer["scores"]).T, kept, atol=1e-4)
    (folder / "scores" / "supervised" / "1_-v1_0.npy").write_bytes(b"no array")
    assert client.get("/api/scores", params={**FIRST, "source": "this:supervised"}).json() == {"scores": None}


def test_new_steps_are_localized_by_the_model_and_unknown_words_are_named(client):
    asked = {**FIRST, "source": "this:supervised", "steps": ["pour milk", "boil milk", "frobnicate"]}
    answer = client.post("/api/parse", json=asked).json()
    assert answer["how"] == "model" and [step["step"] for step in answer["steps"]] == asked["steps"]
    assert np.array(answer["scores"]).shape == (3, 40)
    assert any("frobnic" in note for note in answer["notes"])


def test_without_features_known_steps_are_rearranged_and_others_named(tmp_path):
    client = client_of(write_viewed_run(tmp_path / "bare", features=False))
    assert client.get("/api/run").json()["parses_new_steps"] is False
    asked = {**FIRST, "source": "this:supervised", "steps": ["Pour coffee", "whisk egg", "pour milk"]}
    answer = client.post("/api/parse", json=asked).json()
    assert answer["how"] == "kept scores" and [step["step"] for step in answer["steps"]] == ["Pour coffee", "pour milk"]
    assert answer["steps"][0]["moment_s"] < answer["steps"][1]["moment_s"]
    assert any("whisk egg" in note for note in answer["notes"])
    refused = client.post("/api/parse", json={**asked, "steps": ["whisk egg"]})
    assert refused.status_code == 409 and "--corpus" in refused.json()["detail"]


def test_more_steps_than_seconds_are_an_error(client):
    refused = client.post("/api/parse", json={**FIRST, "source": "this:supervised", "steps": ["pour milk"] * 41})
    assert refused.status_code == 409 and "fewer steps" in refused.json()["detail"]


def test_an_annotation_is_saved_in_the_published_format(client, folder):
    answer = client.put("/api/annotation", json={**FIRST, "spans": spans((2, 7.25, 9), (1, 0, 3.456))})
    assert answer.json() == {"file": "annotations/1_-v1_0.csv"}
    assert (folder / "annotations" / "1_-v1_0.csv").read_text() == "1,0,3.46\n2,7.25,9\n"
    assert len(read_step_intervals(folder / "annotations" / "1_-v1_0.csv", TASKS["1"])) == 2
    assert client.get("/api/video", params=FIRST).json()["annotation"] == spans((1, 0, 3.46), (2, 7.25, 9))
    assert client.get("/api/videos", params={"show": "annotated"}).json()["total"] == 1
    assert client.get("/api/videos", params={"show": "not-annotated"}).json()["total"] == 11


@pytest.mark.parametrize(
    ("triple", "said"),
    [((4, 1, 2), "the task has 3"), ((1, 5, 5), "start before end"), ((1, 5, 4), "start before end"), ((1, 5, 42), "has 40 s")],
)
def test_invalid_intervals_are_an_error_and_nothing_is_written(client, folder, triple, said):
    refused = client.put("/api/annotation", json={**FIRST, "spans": spans(triple)})
    assert refused.status_code == 409 and said in refused.json()["detail"]
    assert not (folder / "annotations").exists()


def test_relevance_is_saved_filtered_and_removed(client, folder):
    client.put("/api/relevance", json={**FIRST, "relevance": "irrelevant"})
    assert json.loads((folder / "relevance.json").read_text())["videos"] == {"1_-v1_0": "irrelevant"}
    assert client.get("/api/videos", params={"show": "irrelevant"}).json()["videos"][0]["video"] == "-v1_0"
    client.put("/api/relevance", json={**FIRST, "relevance": None})
    assert client.get("/api/videos", params={"show": "unmarked"}).json()["total"] == 12


def test_concurrent_writers_lose_nothing(folder):
    """Two servers on one run with many threads each: every judgement is kept."""
    clients = [client_of(folder), client_of(folder)]
    keys = [(v["task"], v["video"]) for v in clients[0].get("/api/videos", params={"page_size": 50}).json()["videos"]]
    failures = []

    def write(client, task, video):
        answer = client.put("/api/relevance", json={"task": task, "video": video, "relevance": "relevant"})
        if answer.status_code != 200:
            failures.append(answer.text)

    threads = [threading.Thread(target=write, args=(clients[i % 2], *key)) for i, key in enumerate(keys)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(json.loads((folder / "relevance.json").read_text())["videos"]) == 12
    assert not list(folder.glob(".*"))


def test_a_second_run_is_compared_with_the_first(folder, tmp_path):
    client = client_of(folder, other=write_viewed_run(tmp_path / "before"))
    run = client.get("/api/run").json()
    assert run["compared_with"] == "before"
    assert [s["label"] for s in run["sources"]] == ["supervised", "uniform", "supervised (before)", "uniform (before)"]
    parses = client.get("/api/video", params=FIRST).json()["parses"]
    assert parses["other:uniform"] == parses["this:uniform"]
    assert client.get("/api/scores", params={**FIRST, "source": "other:uniform"}).json()["scores"]


def test_another_file_of_the_same_name_is_not_compared(folder, tmp_path):
    other = write_viewed_run(tmp_path / "before")
    for place, content in ((folder, "a"), (other, "b")):
        run = json.loads((place / "run.json").read_text())
        run["videos"][0]["content"] = content
        (place / "run.json").write_text(json.dumps(run))
    client, first = client_of(folder, other=other), {k: run["videos"][0][k] for k in ("task", "video")}
    parses = client.get("/api/video", params=first).json()["parses"]
    assert set(parses["other:uniform"]) == {None} and None not in parses["this:uniform"]
    assert client.get("/api/scores", params={**first, "source": "other:uniform"}).json()["scores"] is None


def labelled(client, **said):
    return client.put("/api/label", json={**FIRST, "step": 1, **said})


def test_a_label_is_in_the_next_answer_and_undo_takes_it_back(client, folder):
    before = client.get("/api/video", params=FIRST).json()
    change = labelled(client, kind="moment", moment_s=33.25).json()
    assert (change["change"], change["n_corrected"]) == (1, 1)
    after = client.get("/api/video", params=FIRST).json()
    for source in ("this:supervised", "this:uniform"):
        step = after["parses"][source][0]
        assert (step["moment_s"], step["by"], step["confidence"]) == (33.25, "person", 1.0)
        assert after["parses"][source][1:] == before["parses"][source][1:]
    assert after["changes"] == [{"change": 1, "words": "pour milk: moment"}] and after["last_change"] == 1
    listed = client.get("/api/videos", params={"show": "annotated"}).json()
    assert listed["total"] == listed["n_corrected"] == 1 and listed["videos"][0]["marks"][0]["by"] == "person"
    assert client.post("/api/undo", json={"change": 1}).json()["n_corrected"] == 0
    assert client.get("/api/video", params=FIRST).json()["parses"] == before["parses"]
    assert client.post("/api/undo", json={"change": 1}).status_code == 409
    assert len((folder / "labels.jsonl").read_text().splitlines()) == 2


def test_an_answer_that_the_page_did_not_show_is_not_confirmed(client, folder):
    shown = client.get("/api/video", params=FIRST).json()["parses"]["this:supervised"][0]
    for other in ({"shown": True, "moment_s": shown["moment_s"] + 3}, {"shown": False}):
        refused = labelled(client, kind="right", **other)
        assert refused.status_code == 409 and "another answer since this page was loaded" in refused.json()["detail"]
    assert not (folder / "labels.jsonl").exists()
    assert labelled(client, kind="right", shown=True, moment_s=shown["moment_s"]).status_code == 200


@pytest.mark.parametrize("what", ["other videos", "other options", "moved"])
def test_nothing_is_saved_into_a_run_that_was_made_again_or_moved(client, folder, what):
    if what == "moved":
        folder.rename(folder.with_name("moved"))
    else:
        run = json.loads((folder / "run.json").read_text())
        if what == "other videos":
            run["videos"][0]["n_segments"] += 1
        else:
            run["command"] = "crosstask run films --features log-mel --seed 5"
        (folder / "run.json").write_text(json.dumps(run))
    saved = [
        labelled(client, kind="moment", moment_s=3),
        client.put("/api/relevance", json={**FIRST, "relevance": "irrelevant"}),
        client.put("/api/annotation", json={**FIRST, "spans": spans((1, 3, 9.5))}),
    ]
    assert [one.status_code for one in saved] == [409, 409, 409]
    assert not [path for path in folder.glob("*") if path.name in ("labels.jsonl", "relevance.json", "annotations")]


def test_a_page_that_was_loaded_from_another_run_reads_and_saves_nothing(tmp_path):
    """A tab stays open while the run is made again with other steps, and is then viewed on the same port."""
    loaded = client_of(write_viewed_run(tmp_path / "run")).get("/api/run").json()["identity"]
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    again = client_of(tmp_path / "run")
    assert again.get("/api/run").json()["identity"] == loaded, "the same run may be viewed again"
    run["tasks"]["1"]["steps"][0], run["tasks"]["1"]["steps"][1] = run["tasks"]["1"]["steps"][1], run["tasks"]["1"]["steps"][0]
    localizations = json.loads((tmp_path / "run" / "localizations.json").read_text())
    for found in (one for videos in localizations["methods"].values() for one in videos if one["task"] == "1"):
        for step, name in zip(found["steps"], run["tasks"]["1"]["steps"], strict=True):
            step["step"] = name
    (tmp_path / "run" / "run.json").write_text(json.dumps(run))
    (tmp_path / "run" / "localizations.json").write_text(json.dumps(localizations))
    other = client_of(tmp_path / "run")
    other.headers["x-crosstask-run"] = loaded
    for answer in (
        labelled(other, kind="moment", moment_s=3),
        other.put("/api/relevance", json={**FIRST, "relevance": "irrelevant"}),
        other.get("/api/video", params=FIRST),
        other.get("/api/run"),
    ):
        assert answer.status_code == 409 and "this page was loaded from another run" in answer.json()["detail"]
    assert not (tmp_path / "run" / "labels.jsonl").exists()
    del other.headers["x-crosstask-run"]
    other.headers["x-crosstask-run"] = other.get("/api/run").json()["identity"]
    assert labelled(other, kind="moment", moment_s=3).status_code == 200


def test_every_kind_of_answer(client):
    shown = client.get("/api/video", params=FIRST).json()["parses"]["this:supervised"][0]
    assert labelled(client, kind="right").status_code == 200
    step = client.get("/api/video", params=FIRST).json()["parses"]["this:supervised"][0]
    assert (step["moment_s"], step["start_s"], step["end_s"]) == (shown["moment_s"], shown["start_s"], shown["end_s"])
    assert labelled(client, kind="interval", start_s=3, end_s=9.5).status_code == 200
    assert client.get("/api/video", params=FIRST).json()["annotation"] == spans((1, 3, 9.5))
    assert labelled(client, kind="not shown").status_code == 200
    assert client.get("/api/video", params=FIRST).json()["parses"]["this:supervised"][0]["shown"] is False
    assert labelled(client, kind="none").status_code == 200
    assert client.get("/api/video", params=FIRST).json()["annotation"] is None


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"step": 4, "kind": "right"}, "the task has 3"),
        ({"step": 4, "kind": "not shown"}, "the task has 3"),
        ({"kind": "moment", "moment_s": 60}, "a video of 40 s"),
        ({"kind": "moment"}, "a video of 40 s"),
        ({"kind": "interval", "start_s": 9, "end_s": 3}, "start before end"),
        ({"kind": "interval", "end_s": 9}, "an interval needs start_s and end_s"),
        ({"kind": "interval", "start_s": 9}, "an interval needs start_s and end_s"),
        ({"kind": "interval", "start_s": 9, "end_s": 300}, "the video has 40 s"),
    ],
)
def test_an_invalid_label_is_an_error_and_nothing_is_written(client, folder, said, words):
    refused = labelled(client, **said)
    assert refused.status_code == 409 and words in refused.json()["detail"]
    assert not (folder / "labels.jsonl").exists()


def test_saving_labels_only_the_steps_that_were_changed(client):
    saved = {**FIRST, "spans": spans((1, 2, 4), (2, 12, 15)), "steps": [2, 3], "seen": 0}
    assert client.put("/api/annotation", json=saved).status_code == 200
    steps = client.get("/api/video", params=FIRST).json()["parses"]["this:supervised"]
    assert ["by" in step and step["by"] for step in steps] == ["machine", "person", "person"]
    assert (steps[1]["start_s"], steps[2]["shown"]) == (12, False)
    stale = client.put("/api/annotation", json={**saved, "steps": [1, 2]})
    assert stale.status_code == 409 and "step 2 was labelled somewhere else meanwhile" in stale.json()["detail"]
    assert client.put("/api/annotation", json={**saved, "steps": [9]}).status_code == 409


def test_a_full_disk_after_the_label_was_written_does_not_say_that_nothing_is_saved(client, folder, monkeypatch):
    def full(store, key):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder / "annotations" / f"{key}.csv"))

    monkeypatch.setattr(AnnotationStore, "_write", full)
    answer = client.put("/api/annotation", json={**FIRST, "spans": spans((1, 2, 4)), "steps": [2], "seen": 0})
    assert answer.status_code == 409 and (folder / "labels.jsonl").read_text().count("\n") == 1
    assert answer.json()["detail"] == (
        "1_-v1_0.csv cannot be written or read: No space left on device; reload the page to see what is saved"
    )


def test_the_review_and_why_nothing_can_be_learnt_here(client):
    queue = client.get("/api/review", params={"n": 10}).json()
    assert [item["drawn"] for item in queue["items"]] == (["gain"] * 4 + ["random"]) * 2 and queue["left"] == 28
    item = queue["items"][0]
    answer = {
        "task": item["task"],
        "video": item["video"],
        "step": item["number"],
        "kind": "right",
        "drawn": item["drawn"],
        "seen": 0,
    }
    assert client.put("/api/label", json=answer).status_code == 200
    again = client.get("/api/review", params={"n": 9}).json()
    assert again["items"] == queue["items"][1:] and again["answered"] == 1
    assert client.put("/api/label", json=answer).status_code == 409, "another window has answered"
    assert "supervised" in client.get("/api/run").json()["why_not_learning"]
    assert client.get("/api/learning").json()["state"] == "idle"
    assert client.post("/api/learning", json={"action": "start"}).status_code == 409


def test_the_transcript_of_a_video(client, folder):
    lines = client.get("/api/transcript", params=FIRST).json()["lines"]
    assert [line["text"] for line in lines] == list(LINES) and lines[1]["start_s"] == 8.0
    assert client.get("/api/transcript", params={"task": "1", "video": "-v1_1"}).json() == {"lines": []}
    assert client.get("/api/transcript", params={"task": "1", "video": "gone"}).status_code == 404
    (folder / "transcripts" / "1_-v1_0.json").write_text('{"lines": [[1, 2]]}')
    answer = client.get("/api/transcript", params=FIRST)
    assert answer.status_code == 409 and "damaged" in answer.json()["detail"]


def test_a_moment_in_an_empty_video_is_saved_as_its_start(folder):
    run = json.loads((folder / "run.json").read_text())
    run["videos"][0]["n_segments"] = 0
    (folder / "run.json").write_text(json.dumps(run))
    client = client_of(folder)
    assert client.put("/api/label", json={**FIRST, "step": 1, "kind": "moment", "moment_s": 0.5}).status_code == 200
    assert client.get("/api/video", params=FIRST).status_code == 200
