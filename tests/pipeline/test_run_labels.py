"""What people said in a run folder is learnt from by the next `run`, stays where it is, and is not counted as success."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from crosstask.datasets import open_corpus, write_step_intervals
from crosstask.datasets.corpus_toml import write_corpus_toml
from crosstask.features import read_rows, write_rows
from crosstask.pipeline import run_labels
from crosstask.pipeline.extract import Workers
from crosstask.pipeline.media import media_of
from crosstask.pipeline.run import RunConfig, run_folder
from crosstask.pipeline.run_labels import relevant_videos, with_run_labels
from crosstask.records import InputError, Interval, StepInterval, StepLabel, Video, VideoKey
from crosstask.runs import LabelStore, RunLabel, note_replaced_videos, open_run, write_run
from crosstask.runs.relevance import save_relevance
from crosstask.viewer.annotations import AnnotationStore
from tiny import TASKS, tiny_corpus


@pytest.fixture
def folder(tmp_path):
    """A corpus.toml folder with features and annotations, and no video files."""
    corpus, folder = tiny_corpus(n_segments=40), tmp_path / "own"
    write_corpus_toml(folder / "corpus.toml", corpus.tasks)
    (folder / "videos.csv").write_text("".join(f"{v.task},{v.id},{v.url}\n" for v in corpus.videos))
    for video in corpus.videos:
        write_rows(folder / "features" / f"{video.id}.npy", corpus.features.rows(video.id))
        write_step_intervals(folder / "annotations" / f"{video.key}.csv", corpus.annotations[video.key])
    return folder


def run(folder, **options):
    return run_folder(folder, folder / "run", RunConfig(transcribe=False, workers=Workers(count=1), **options))


def label(folder, key, *labels):
    LabelStore(folder / "run", TASKS).append(
        key, [RunLabel(one.step, TASKS[key.task].steps[one.step], one) for one in labels], "viewer"
    )


def test_labels_after_the_end_of_a_video_that_was_replaced_are_not_used(folder, caplog):
    run(folder)
    key = VideoKey("1", "-v1_1")
    label(folder, key, StepLabel(0, moment_s=33.0), StepLabel(1, moment_s=5.0))
    rows = folder / "features" / "-v1_1.npy"
    write_rows(rows, read_rows(rows)[:20].copy())
    (folder / "annotations" / f"{key}.csv").unlink()
    done = run(folder)
    assert done.corpus.labels[key] == (StepLabel(1, moment_s=5.0),)
    assert "1_-v1_1: 1 labels lie after its end, at 20 s" in caplog.text
    found = open_run(folder / "run").localizations["hmm"][key].steps
    assert [step.by for step in found] == ["machine", "person", "machine"] and max(step.end_s for step in found) <= 20


def test_a_run_learns_from_its_labels_and_never_moves_them(folder):
    first = run(folder)
    assert len(first.localized) == 12
    key = VideoKey("1", "-v1_1")
    label(folder, key, StepLabel(0, moment_s=33.0), StepLabel(2))
    second = run(folder)
    step = open_run(folder / "run").localizations["hmm"][key].steps[0]
    assert step == next(found for found in second.localized if found.video == key.video).steps[0]
    assert (step.moment_s, step.by) == (33.0, "person")
    assert second.model.settings["labelled_videos"] == 1 and "labelled_videos" not in first.model.settings
    scores = np.load(folder / "run" / "scores" / "hmm" / "1_-v1_1.npy")
    assert scores[:, 0].argmax() == 33, "the model knows the labelled moment"
    report = (folder / "run" / "report.html").read_text()
    assert "2 corrected by a person" in report and "without the 1 videos that a person labelled" in report
    assert json.loads((folder / "run" / "run.json").read_text())["settings"]["videos with labels by a person"] == ["1_-v1_1"]
    bytes_ = {
        name: (folder / "run" / name).read_bytes()
        for name in ("model.safetensors", "localizations.json", "run.json", "labels.jsonl")
    }
    run(folder)
    assert {name: (folder / "run" / name).read_bytes() for name in bytes_} == bytes_


def test_recall_leaves_out_what_was_learnt_from(folder):
    every = run(folder, use_annotations="all")
    assert every.results == {} and len(every.corpus.labels) == 12
    listed = run(folder, use_annotations=("1_-v1_0", "1_-v1_1"))
    assert len(listed.corpus.labels) == 2
    assert listed.results["hmm"]["recall"]["mean"] is not None
    with pytest.raises(InputError, match="not a training video"):
        run(folder, use_annotations=("1_nothing",))


def test_labels_of_the_run_go_before_annotations_of_the_corpus(folder):
    run(folder)
    label(folder, VideoKey("1", "-v1_1"), StepLabel(1, intervals=(Interval(2, 3),)))
    from crosstask.datasets import open_corpus

    labels = with_run_labels(open_corpus(folder), folder / "run", ["1_-v1_1"]).labels[VideoKey("1", "-v1_1")]
    assert [one.step for one in labels] == [0, 1, 2] and labels[1].intervals == (Interval(2, 3),)
    assert labels[0].kind == labels[2].kind == "intervals" and labels[0].intervals != (Interval(2, 3),)


def test_a_run_whose_videos_are_all_irrelevant_says_so(folder):
    (folder / "run").mkdir()
    save_relevance(folder / "run", {video.key: "irrelevant" for video in open_corpus(folder).videos}, {})
    with pytest.raises(InputError, match=r"every video is marked irrelevant in .*run; mark some as relevant"):
        run(folder)


def test_irrelevant_videos_are_found_in_but_not_trained_on(folder):
    run(folder)
    save_relevance(folder / "run", {VideoKey("1", "-v1_2"): "irrelevant", VideoKey("1", "-v1_3"): "relevant"}, {})
    done = run(folder)
    assert VideoKey("1", "-v1_2") not in done.model.trained_on and len(done.model.trained_on) == 11
    assert len(done.localized) == 12
    assert len(relevant_videos(done.corpus.videos, folder / "run", {})) == 11


def test_an_irrelevant_video_of_a_task_with_an_underscore_is_not_trained_on(tmp_path):
    videos = [Video("brew_tea", name) for name in "ab"]
    save_relevance(tmp_path, {videos[0].key: "irrelevant"}, {})
    assert relevant_videos(videos, tmp_path, {}) == videos[1:]


def test_all_the_command_says(folder):
    from cli.running import json_of, refused

    figures = json_of("run", folder, "--no-speech", "--use-annotations", "all")
    assert figures["steps"]["corrected"] == 0 and figures["steps"]["found"] > 0
    assert "no such file" in refused("run", folder, "--no-speech", "--use-annotations", "nothing.txt")


def test_labels_of_a_replaced_video_are_removed_and_can_be_undone(folder, caplog):
    run(folder)
    keys = VideoKey("1", "-v1_1"), VideoKey("1", "-v1_2"), VideoKey("2", "-v2_1")
    opened = open_run(folder / "run")
    contents = {video.key: f"of {video.id}" for video in opened.run.videos if video.key != keys[2]}
    described = replace(opened.run, videos=tuple(replace(v, content=contents.get(v.key)) for v in opened.run.videos))
    write_run(folder / "run", described, {name: list(found.values()) for name, found in opened.localizations.items()})
    for key in keys:
        label(folder, key, StepLabel(0, moment_s=5.0))  # as an earlier version wrote it, without the content
    now = {**dict.fromkeys(keys, "other"), keys[0]: contents[keys[0]]}
    for _ in range(2):
        store = LabelStore(folder / "run", TASKS, now)
        note_replaced_videos(folder / "run", store)
        assert set(store.labels()) == {keys[0], keys[2]}
    assert f"{keys[1]}: its file was replaced, so its 1 labels are not used" in caplog.text
    assert set(LabelStore(folder / "run", TASKS, contents).labels()) == {keys[0], keys[1]}, "the former file has them still"
    store.undo(store.changes()[-1].id)
    assert store.step_labels()[keys[1]] == (StepLabel(0, moment_s=5.0),) and set(store.labels()) == set(keys)


def test_labels_of_a_replaced_file_are_not_used_with_features_of_the_users_own(folder, caplog):
    film = folder / "videos" / "1" / "-v1_1.mp4"
    film.parent.mkdir(parents=True)
    film.write_bytes(b"one")
    run(folder)
    label(folder, VideoKey("1", "-v1_1"), StepLabel(0, moment_s=5.0))
    assert with_run_labels(open_corpus(folder), folder / "run").labels == {VideoKey("1", "-v1_1"): (StepLabel(0, moment_s=5.0),)}
    film.write_bytes(b"another")
    assert not with_run_labels(open_corpus(folder), folder / "run").labels
    assert "1_-v1_1: its file was replaced" in caplog.text


def test_what_was_said_follows_a_file_to_another_name_and_back(folder, monkeypatch, caplog):
    """Another task with a video of its name changes the id of a video, and a user may rename the file."""
    one, other = folder / "videos" / "1" / "film.mp4", folder / "videos" / "2" / "film.mp4"
    for path in (one, other):
        path.parent.mkdir(parents=True)
    one.write_bytes(b"one")
    digests = {b"one": "digest of one", b"other": "digest of the other"}
    monkeypatch.setattr(
        run_labels, "contents_of", lambda corpus: {key: digests[path.read_bytes()] for key, path in media_of(corpus).items()}
    )
    plain, with_task, renamed = VideoKey("1", "film"), VideoKey("1", "1-film"), VideoKey("1", "new")
    (folder / "run").mkdir()
    store = LabelStore(folder / "run", TASKS, {plain: "digest of one"})
    store.append(plain, [RunLabel(0, TASKS["1"].steps[0], StepLabel(0, moment_s=5.0))], "viewer")
    assert with_run_labels(open_corpus(folder), folder / "run").labels == {plain: (StepLabel(0, moment_s=5.0),)}
    other.write_bytes(b"other")
    assert with_run_labels(open_corpus(folder), folder / "run").labels == {with_task: (StepLabel(0, moment_s=5.0),)}
    store = LabelStore(folder / "run", TASKS, {with_task: "digest of one"})
    store.append(with_task, [RunLabel(0, TASKS["1"].steps[0], StepLabel(0, moment_s=7.0))], "viewer")
    other.unlink()
    assert with_run_labels(open_corpus(folder), folder / "run").labels == {plain: (StepLabel(0, moment_s=7.0),)}
    one.rename(one.with_stem("new"))
    assert with_run_labels(open_corpus(folder), folder / "run").labels == {renamed: (StepLabel(0, moment_s=7.0),)}
    assert len(store.changes()) == 2 and not caplog.text
    one.with_stem("new").unlink()
    assert not with_run_labels(open_corpus(folder), folder / "run").labels
    assert "2 labels are kept but not used" in caplog.text


def test_labels_of_a_step_or_task_with_another_name_are_kept_and_named(folder, caplog):
    run(folder)
    label(folder, VideoKey("1", "-v1_1"), StepLabel(0, moment_s=5.0))
    label(folder, VideoKey("2", "-v2_1"), StepLabel(0, moment_s=5.0))
    tasks = {key: task for key, task in TASKS.items() if key != "2"}
    tasks["1"] = replace(tasks["1"], steps=("another name", *tasks["1"].steps[1:]))
    corpus = open_corpus(folder)
    kept = replace(corpus, tasks=tasks, videos=tuple(video for video in corpus.videos if video.task in tasks))
    assert not with_run_labels(kept, folder / "run").labels
    assert "2 labels are kept but not used" in caplog.text
    assert f"'{TASKS['1'].steps[0]}' of 1_-v1_1" in caplog.text and f"'{TASKS['2'].steps[0]}' of 2_-v2_1" in caplog.text
    assert len(with_run_labels(corpus, folder / "run").labels) == 2


def test_a_model_that_fits_no_video_is_an_error_and_no_empty_run(folder, tmp_path):
    from crosstask.model.file import save_model

    model = tmp_path / "m.safetensors"
    save_model(run(folder).model, model)
    for path in (folder / "features").glob("*.npy"):
        write_rows(path, read_rows(path)[:, :-1].copy())
    with pytest.raises(InputError, match=r"steps could be found in no video; the first: video 1_-v1_0: features have shape"):
        run_folder(folder, tmp_path / "out", RunConfig(transcribe=False, workers=Workers(count=1), model=model))
    assert not (tmp_path / "out" / "run.json").exists()


def test_annotation_files_of_the_viewer_have_the_numbers_of_the_new_list(folder):
    run(folder)
    key = VideoKey("1", "-v1_1")
    AnnotationStore(open_run(folder / "run"), write_step_intervals).save_annotation(key, (StepInterval(0, Interval(2.0, 4.0)),))
    saved = folder / "run" / "annotations" / f"{key}.csv"
    assert saved.read_text() == "1,2,4\n"
    steps = TASKS["1"].steps
    write_corpus_toml(folder / "corpus.toml", {**TASKS, "1": replace(TASKS["1"], steps=(*steps[1:], steps[0]))})
    shutil.rmtree(folder / "annotations")
    run(folder)
    assert saved.read_text() == "3,2,4\n"
