"""Learning from labels, starting from the last model: what would move, accept, undo."""

from dataclasses import replace

import pytest

from crosstask.datasets import read_step_intervals, write_step_intervals
from crosstask.model.file import load_model
from crosstask.pipeline import relearning
from crosstask.pipeline.localize_corpus import joint_decoder_of, localize_labelled
from crosstask.pipeline.relearning import (
    accept,
    can_undo_learning,
    corpus_of_run,
    decoded_with_narration,
    learn,
    undo_learning,
    why_not_learning,
)
from crosstask.pipeline.run_labels import BEFORE
from crosstask.pipeline.viewer_backend import features_for_run
from crosstask.records import InputError, Interval, NoFeatures, StepInterval, StepLabel, VideoKey
from crosstask.runs import RunLabel, open_run
from crosstask.viewer.annotations import AnnotationStore
from pipeline.test_run_labels import folder, run  # noqa: F401 - fixture

KEY = VideoKey("1", "-v1_1")
NAMES = ("model.safetensors", "localizations.json", "run.json", "scores/hmm/1_-v1_1.npy", "report.html")


@pytest.fixture
def done(folder):  # noqa: F811
    """A run with one label far from where the step was found."""
    run(folder)
    opened = open_run(folder / "run")
    opened.labels.append(KEY, [RunLabel(2, "pour coffee", StepLabel(2, moment_s=1.0))], "viewer")
    return opened


def files(opened):
    return {name: (opened.folder / name).read_bytes() for name in NAMES}


def proposal_of(opened):
    return learn(opened, load_model(opened.folder / "model.safetensors"), features_for_run(opened, None))


def test_a_proposal_writes_nothing_and_never_moves_a_labelled_step(done):
    before = files(done)
    proposal = proposal_of(done)
    assert files(done) == before and proposal.n_labels == 1 and proposal.labelled == {KEY}
    assert (KEY, 2) not in {(moved.key, moved.step) for moved in proposal.moved}
    assert proposal.n_videos_moved <= len(proposal.moved)
    for moved in proposal.moved:
        assert moved.before.shown != moved.after.shown or abs(moved.before.moment_s - moved.after.moment_s) >= 2
    assert proposal.scores[KEY][:, 2].argmax() == 1
    assert proposal.results["recall"]["mean"] is not None


def test_accept_replaces_and_undo_restores_every_byte(done):
    before, others = files(done), done.machine_localizations["uniform"]
    proposal = proposal_of(done)
    accept(done, proposal)
    assert can_undo_learning(done.folder) and files(done)["model.safetensors"] != before["model.safetensors"]
    assert (
        done.machine_localizations["hmm"][KEY] == proposal.localizations[KEY] and done.machine_localizations["uniform"] == others
    )
    assert done.localizations["hmm"][KEY].steps[2].moment_s == 1.0
    assert open_run(done.folder).run.settings["videos with labels by a person"] == [str(KEY)]
    undo_learning(done)
    restored = files(done)
    assert {name for name in NAMES if restored[name] != before[name]} <= {"report.html"}, "the report shows the label"
    assert not (done.folder / BEFORE).exists() and done.localizations["hmm"][KEY].steps[2].moment_s == 1.0
    with pytest.raises(InputError, match="nothing was learnt"):
        undo_learning(done)


def test_saved_annotations_hold_what_the_run_shows_after_learning_and_after_undoing_it(done):
    """They hold all shown steps of a video, also those that nobody labelled."""
    store = AnnotationStore(done, write_step_intervals)
    store.save_annotation(KEY, (StepInterval(0, Interval(0.0, 1.0)),), [0])
    proposal = proposal_of(done)
    steps = proposal.localizations[KEY].steps
    steps[1] = replace(steps[1], start_s=3.0, end_s=3.5, shown=True)

    def saved():
        return read_step_intervals(done.folder / "annotations" / f"{KEY}.csv", done.run.tasks["1"])

    before = saved()
    accept(done, proposal)
    assert StepInterval(1, Interval(3.0, 3.5)) in saved() and saved() == tuple(store._shown_intervals(KEY))
    undo_learning(done)
    assert saved() == before


def test_a_new_run_leaves_nothing_to_undo(done):
    accept(done, proposal_of(done))
    run(done.folder.parent)
    assert not can_undo_learning(done.folder) and done.localizations["hmm"][KEY].steps[2].moment_s == 1.0


def test_what_was_learnt_from_another_run_is_not_put_in_place(done):
    """Two viewers of one run, and a viewer that stays open while `run` is repeated with a new video."""
    proposal = proposal_of(done)
    accept(open_run(done.folder), proposal_of(done))
    with pytest.raises(InputError, match="changed after this was learnt"):
        accept(done, proposal)
    corpus = done.folder.parent
    rows = (corpus / "features" / "-v1_1.npy").read_bytes()
    (corpus / "features" / "new.npy").write_bytes(rows)
    (corpus / "videos.csv").write_text((corpus / "videos.csv").read_text() + "1,new,\n")
    run(corpus)
    before = files(done)
    for use in (lambda: accept(done, proposal), lambda: proposal_of(done)):
        with pytest.raises(InputError, match="made again after it was opened"):
            use()
    assert files(done) == before and VideoKey("1", "new") in open_run(done.folder).n_segments


def test_why_nothing_can_be_learnt_is_said(done):
    model = load_model(done.folder / "model.safetensors")
    assert why_not_learning(done, model, features_for_run(done, None)) == ""
    assert "no model" in why_not_learning(done, None, NoFeatures())
    assert "--corpus" in why_not_learning(done, model, NoFeatures())
    elsewhere = replace(model, trained_on=frozenset(VideoKey("1", f"other{i}") for i in range(9)))
    assert "of the 9 videos that the model was trained on, 0 are in this run" in why_not_learning(
        done, elsewhere, features_for_run(done, None)
    )


def test_the_answers_are_decoded_as_those_of_the_run(folder):  # noqa: F811
    """With narration or without: otherwise steps would move for another reason than the labels."""
    from crosstask.datasets import write_step_intervals
    from crosstask.runs import write_localizations
    from tiny import tiny_corpus

    for key, windows in tiny_corpus(n_segments=40).windows.items():
        write_step_intervals(folder / "constraints" / f"{key}.csv", windows)
    run(folder)
    opened = open_run(folder / "run")
    model, features = load_model(opened.folder / "model.safetensors"), features_for_run(opened, None)
    corpus = corpus_of_run(opened, features, model.feature_spec)
    assert joint_decoder_of(corpus, model) is not None and decoded_with_narration(opened, corpus, model)
    assert not decoded_with_narration(opened, corpus.without_windows(), model)
    alone = [localize_labelled(model, None, v, corpus.task_of(v), features.rows(v.id))[1] for v in corpus.videos]
    before = [s.segment for found in opened.machine_localizations["hmm"].values() for s in found.steps]
    write_localizations(opened.folder, {"hmm": alone})
    same = before == [s.segment for found in alone for s in found.steps]
    assert decoded_with_narration(opened, corpus, model) is same


@pytest.mark.parametrize("killed_in", ["save_model", "write_run", "refresh_report"])
def test_killed_while_it_puts_a_proposal_in_place_nothing_is_lost(done, monkeypatch, killed_in):
    before, proposal = files(done), proposal_of(done)

    def die(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(relearning, killed_in, die)
        with pytest.raises(KeyboardInterrupt):
            accept(done, proposal)
    again = open_run(done.folder)
    accept(again, proposal)
    undo_learning(again)
    assert {name: data for name, data in files(done).items() if data != before[name]}.keys() <= {
        "report.html"
    }  # the label is new in it
    assert not (done.folder / BEFORE).exists()


@pytest.mark.parametrize("name", [BEFORE, "scores"])
def test_links_out_of_the_run_are_not_written_through(done, tmp_path, name):
    proposal, outside = proposal_of(done), tmp_path / "outside"
    outside.mkdir()
    if (done.folder / name).exists():
        (done.folder / name).rename(tmp_path / "away")
    (done.folder / name).symlink_to(outside)
    with pytest.raises(InputError, match="leads out of the run folder"):
        accept(done, proposal)
    assert list(outside.iterdir()) == []
