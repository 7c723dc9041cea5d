import json
from dataclasses import replace

import numpy as np
import pytest

from crosstask.model.localization import localization_of
from crosstask.records import InputError, Narration, StepLabel, VideoKey, Word
from crosstask.runs import (
    LabelStore,
    Run,
    RunLabel,
    RunVideo,
    claim_run_folder,
    note_replaced_videos,
    open_run,
    refuse_place_of_run,
    write_localizations,
    write_run,
)
from crosstask.runs.relevance import read_relevance, save_relevance
from tiny import tiny_corpus


def tiny_run(folder):
    corpus = tiny_corpus()
    videos, parses, scores = [], [], []
    for video in corpus.videos[:3]:
        values = np.random.default_rng(0).standard_normal((20, 3))
        videos.append(RunVideo(video.task, video.id, 20, None, corpus.annotations[video.key], corpus.windows[video.key]))
        parses.append(localization_of(corpus.task_of(video), values, video.id))
        scores.append(("proposed", video.key, values))
    run = Run(
        "a run",
        "demo",
        "crosstask demo",
        0,
        True,
        corpus.tasks,
        tuple(videos),
        ("proposed",),
        {"proposed": {"recall": {"mean": 0.5}}},
    )
    return write_run(folder, run, {"proposed": parses}, scores), run, parses


def test_a_run_is_read_back_unchanged(tmp_path):
    folder, run, parses = tiny_run(tmp_path / "r")
    again = open_run(folder)
    assert again.run == run
    assert list(again.localizations["proposed"].values()) == parses
    scores = again.scores("proposed", VideoKey("1", "-v1_1"))
    assert scores is not None and scores.shape == (20, 3)
    assert again.scores("other", VideoKey("1", "-v1_1")) is None


def test_writing_again_gives_the_same_bytes(tmp_path):
    tiny_run(tmp_path / "a")
    tiny_run(tmp_path / "b")
    for path in sorted((tmp_path / "a").rglob("*.*")):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_a_folder_without_a_valid_run_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        open_run(tmp_path / "x")
    with pytest.raises(InputError, match=r"no run.json"):
        open_run(tmp_path)
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(InputError, match="not a run description"):
        open_run(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps({"format": 7}))
    with pytest.raises(InputError, match="format 7"):
        open_run(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps({"format": 1}))
    with pytest.raises(InputError, match="damaged"):
        open_run(tmp_path)


def test_ids_cannot_lead_out_of_the_folder(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    with pytest.raises(InputError, match="cannot name a file"):
        open_run(folder).scores("../..", VideoKey("1", "x"))
    with pytest.raises(InputError, match="cannot name a file"):
        open_run(folder).scores("proposed", VideoKey("..", "/x"))


def test_localizations_of_other_steps_than_those_of_the_run_are_an_error(tmp_path):
    """As while a run with an edited step list is written: a label of step 2 would go to another step."""
    folder, run, parses = tiny_run(tmp_path / "r")
    opened = open_run(folder)
    assert opened.localizations
    longer = replace(run.tasks["1"], steps=("boil milk", *run.tasks["1"].steps))
    write_localizations(folder, {"proposed": [localization_of(longer, np.zeros((20, 4)), one.video) for one in parses]})
    for reader in (opened, open_run(folder)):
        with pytest.raises(InputError, match=r"task .1. has other steps than in run\.json"):
            _ = reader.localizations


def test_labels_of_a_person_replace_the_answers_of_every_method_at_once(tmp_path):
    from crosstask.records import StepLabel
    from crosstask.runs import RunLabel

    folder, run, _ = tiny_run(tmp_path / "r")
    opened, key = open_run(folder), VideoKey("1", "-v1_1")
    before = opened.localizations["proposed"][key]
    assert before.steps[1].by == "machine" and opened.counts().corrected == 0
    change = LabelStore(folder, run.tasks).append(
        key, [RunLabel(1, "stir coffee", StepLabel(1, moment_s=7.0)), RunLabel(2, "pour coffee", StepLabel(2))], "viewer"
    )
    after = opened.localizations["proposed"][key]
    assert (after.steps[1].moment_s, after.steps[1].by) == (7.0, "person") and not after.steps[2].shown
    assert after.steps[0] == before.steps[0] and opened.counts().corrected == 2
    assert opened.machine_localizations["proposed"][key] == before
    opened.labels.undo(change.id)
    assert opened.localizations["proposed"][key] == before


@pytest.mark.parametrize("name", ["corpus.toml", "crosstask_release", "tasks_primary.txt"])
def test_a_run_is_not_written_into_a_corpus(tmp_path, name):
    (tmp_path / name).mkdir() if name == "crosstask_release" else (tmp_path / name).write_text("")
    with pytest.raises(InputError, match="a corpus, whose annotations would be taken for labels"):
        claim_run_folder(tmp_path, "run")


def test_a_run_is_not_written_over_a_file_nor_below_one(tmp_path):
    (tmp_path / "v.mp4").write_text("")
    for place in (tmp_path / "v.mp4", tmp_path / "v.mp4" / "run"):
        with pytest.raises(InputError, match=r"v\.mp4: a file; expected a folder for the run"):
            claim_run_folder(place, "localize")


def test_a_run_of_other_videos_is_not_overwritten(tmp_path):
    folder, run, parses = tiny_run(tmp_path / "r")
    ours, theirs = tmp_path / "ours.mp4", tmp_path / "theirs.mp4"
    ours.write_bytes(b"")
    shown = replace(run, videos=tuple(replace(video, media=str(ours)) for video in run.videos))
    write_run(folder, shown, {"proposed": parses})
    claim_run_folder(folder, "demo", [theirs, ours])
    claim_run_folder(folder, "demo")
    with pytest.raises(InputError, match=r"it holds the steps found in other videos, such as ours.mp4"):
        claim_run_folder(folder, "demo", [theirs])
    with pytest.raises(InputError, match="it holds the run of `crosstask demo`"):
        claim_run_folder(folder, "run", [ours])
    ours.unlink()  # the collection was moved
    claim_run_folder(folder, "demo", [theirs])


def test_a_run_of_videos_that_are_away_is_not_overwritten_by_that_of_others(tmp_path):
    """Such as those on a disk that is not mounted; a moved collection has the same contents."""
    folder, run, parses = tiny_run(tmp_path / "r")
    away = tuple(replace(v, media=str(tmp_path / f"{v.id}.mp4"), content=f"content {v.id}") for v in run.videos)
    write_run(folder, replace(run, videos=away), {"proposed": parses})
    new, ids = [tmp_path / "new.mp4"], [video.id for video in away]
    claim_run_folder(folder, "demo", new, ids, lambda: [away[0].content, "other"])
    with pytest.raises(InputError, match=f"it holds the steps found in other videos, such as {away[0].id}"):
        claim_run_folder(folder, "demo", new, ids, lambda: ["other"])
    write_run(folder, replace(run, videos=tuple(replace(v, content=None) for v in away)), {"proposed": parses})
    claim_run_folder(folder, "demo", new, ids, lambda: ["other"])
    with pytest.raises(InputError, match="it holds the steps found in other videos"):
        claim_run_folder(folder, "demo", new, ["new"], lambda: ["other"])


def test_a_run_of_other_videos_without_files_is_not_overwritten(tmp_path):
    """Feature files and subtitles have no video file by which they could be told apart."""
    folder, run, _ = tiny_run(tmp_path / "r")
    claim_run_folder(folder, "demo", ids=["new", run.videos[0].id])
    with pytest.raises(InputError, match=f"it holds the steps found in other videos, such as {run.videos[0].id}"):
        claim_run_folder(folder, "demo", ids=["new"])
    with pytest.raises(InputError, match="it holds the steps found in other videos"):
        claim_run_folder(folder, "demo", [tmp_path / "new.mp4"], ["new"])


@pytest.mark.parametrize("name", ["features", "constraints", "annotations", ".crosstask", "videos/tea"])
def test_a_run_is_not_written_into_a_folder_of_a_corpus(tmp_path, name):
    """The next run would take CORPUS/constraints for windows of the user's, and find none."""
    (tmp_path / "corpus.toml").write_text("")
    for check in (refuse_place_of_run, lambda folder: claim_run_folder(folder, "run")):
        with pytest.raises(InputError, match=f"in the folder '{name.partition('/')[0]}' of a corpus, which is not for runs"):
            check(tmp_path / name)
    claim_run_folder(tmp_path / "run", "run")
    claim_run_folder(tmp_path / "runs" / name, "run")


def test_a_run_is_not_written_beside_annotations_that_are_not_its_own(tmp_path):
    """The answers of the run would be added to them, and all would count as labels."""
    (tmp_path / "annotations").mkdir()
    (tmp_path / "annotations" / "1_a.csv").write_text("1,2,3\n")
    with pytest.raises(InputError, match="annotations that are no labels of a run"):
        claim_run_folder(tmp_path, "localize")
    (tmp_path / "labels.jsonl").write_text("")
    claim_run_folder(tmp_path, "localize")


def test_a_damaged_run_can_be_made_again(tmp_path):
    (tmp_path / "run.json").write_text("{")
    claim_run_folder(tmp_path, "run")


@pytest.mark.parametrize(
    "name", ["model.safetensors", "report.html", "transcripts/a.json", "figures/map.svg", "scores/hmm/1_a.npy"]
)
@pytest.mark.parametrize("kind", ["run", "localize", "demo", "experiment"])
def test_a_run_is_not_written_over_files_that_are_of_no_run(tmp_path, name, kind):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match=f"its {name.partition('/')[0]} is of no run and would be overwritten or removed"):
        claim_run_folder(tmp_path, kind)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / name]


def test_what_an_interrupted_command_left_may_be_overwritten_by_the_next(tmp_path):
    claim_run_folder(tmp_path, "run")
    (tmp_path / "model.safetensors").write_text("of the interrupted command")
    claim_run_folder(tmp_path, "run")


def test_finished_jobs_of_an_experiment_are_continued(tmp_path):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "figure.png").write_bytes(b"")
    claim_run_folder(tmp_path, "experiment")


def test_only_transcripts_of_the_run_are_removed(tmp_path):
    folder, run, parses = tiny_run(tmp_path / "r")
    mine = folder / "transcripts" / "mine.json"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    write_run(folder, run, {"proposed": parses}, transcripts={})
    assert mine.read_text() == "mine"


def test_transcripts_of_subtitles_that_are_gone_are_removed(tmp_path):
    folder, run, parses = tiny_run(tmp_path / "r")
    said = {video.key: Narration((Word("hello", 1, 2),)) for video in run.videos[:2]}
    write_run(folder, run, {"proposed": parses}, transcripts=said)
    write_run(folder, run, {"proposed": parses})  # learnt from corrections: what is said stays
    write_run(folder, run, {"proposed": parses}, transcripts=dict(list(said.items())[:1]))
    assert [bool(open_run(folder).transcript(video.key)) for video in run.videos] == [True, False, False]


def test_what_was_said_of_a_video_is_not_used_for_another_file_that_comes_after_it_was_gone(tmp_path, caplog):
    """The video is away in one run, in the next another file has its name; then its own file comes back."""
    folder, run, parses = tiny_run(tmp_path / "r")
    run = replace(run, videos=tuple(replace(video, content=f"content {i}") for i, video in enumerate(run.videos)))
    gone, kept = run.videos[0].key, run.videos[1].key
    step = RunLabel(0, run.tasks[gone.task].steps[0], StepLabel(0, moment_s=3.0))

    def said_with(*videos):
        write_run(folder, replace(run, videos=videos), {"proposed": parses})
        opened = open_run(folder)
        note_replaced_videos(folder, opened.labels)
        return opened.labels.labels().keys(), read_relevance(folder, opened.contents, opened.run.tasks).keys()

    said_with(*run.videos)
    opened = open_run(folder)
    for key in (gone, kept):
        opened.labels.append(key, [step], "viewer")
    save_relevance(folder, {gone: "irrelevant", kept: "irrelevant"}, opened.contents)
    assert said_with(*run.videos[1:]) == ({kept}, {kept})
    assert said_with(replace(run.videos[0], content="other"), *run.videos[1:]) == ({kept}, {kept})
    assert f"{gone}: its file was replaced, so its 1 labels are not used" in caplog.text
    assert said_with(*run.videos) == ({gone, kept}, {gone, kept})


def test_a_run_is_not_written_over_the_results_of_an_experiment_that_left_no_run(tmp_path):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "results.json").write_text("{}")
    for kind in ("run", "localize", "demo"):
        with pytest.raises(InputError, match="it holds the results of an experiment, which would be overwritten"):
            claim_run_folder(tmp_path, kind)
    claim_run_folder(tmp_path, "experiment")
