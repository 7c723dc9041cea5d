"""The review queue: by gain, varied, every fifth at random; the accuracy from those alone."""

import pytest

from correction.runs import answer, true_accuracy, truth_of, write_random_run
from crosstask.correction.queue import RANDOM_EVERY, review
from crosstask.records import StepLabel, VideoKey
from crosstask.runs import label_of, open_run
from crosstask.runs.relevance import save_relevance


@pytest.fixture
def run(tmp_path):
    return write_random_run(tmp_path / "run")


def test_every_fifth_item_is_drawn_at_random_whoever_asks_how_often(run):
    items = review(run, 15).items
    assert [item.drawn for item in items] == (["gain"] * 4 + ["random"]) * 3
    assert len({(item.key, item.step) for item in items}) == 15
    for _ in range(3):
        answer(run, review(run, 1).items[0])
    rest = review(run, 12).items
    assert [(i.key, i.step, i.drawn) for i in rest] == [(i.key, i.step, i.drawn) for i in items[3:]], "as listed at first"


def test_the_same_run_has_the_same_queue_and_another_seed_draws_others(run, tmp_path):
    assert review(run, 30) == review(open_run(tmp_path / "run"), 30)
    other = write_random_run(tmp_path / "other", seed=1)
    drawn = [[(i.key, i.step) for i in review(one, 30).items if i.drawn == "random"] for one in (run, other)]
    assert drawn[0] != drawn[1]


def test_uncertain_steps_come_first_and_are_varied_over_videos_and_steps(run):
    by_gain = [item for item in review(run, 12).items if item.drawn == "gain"]
    everything = [item for item in review(run, 60).items if item.drawn == "gain"]
    mean = lambda items: sum(item.p_right for item in items) / len(items)  # noqa: E731
    assert mean(by_gain) < mean(everything) - 0.1
    assert len({item.key for item in by_gain}) >= 8 and {item.key.task for item in by_gain} == {"1", "2"}


def test_labelled_steps_and_irrelevant_videos_are_not_asked_about(run):
    every = {(item.key, item.step) for item in review(run, 200).items}
    assert len(every) == 60
    key = VideoKey("1", "v3")
    run.labels.append(key, [label_of(0, run.machine_localizations["hmm"][key].steps[0], StepLabel(0), 60)], "viewer")
    save_relevance(run.folder, {VideoKey("2", "v0"): "irrelevant"}, {})
    assert every - {(item.key, item.step) for item in review(run, 200).items} == {
        (key, 0), (VideoKey("2", "v0"), 0), (VideoKey("2", "v0"), 1)
    }  # fmt: skip


def test_undo_takes_an_answer_out_of_the_estimate(run):
    changes = [answer(run, review(run, 1).items[0]) for _ in range(10)]
    assert review(run).accuracy.checked == 2 and review(run).n_answered == 10
    run.labels.undo(changes[-1].id)
    assert review(run).accuracy.checked == 1 and review(run).items[0].drawn == "random"


def test_a_reserved_step_that_was_corrected_elsewhere_counts_at_its_turn(run):
    reserved = [item for item in review(run, 60).items if item.drawn == "random"]
    first = reserved[0]
    run.labels.append(first.key, [label_of(first.step, first.found, truth_of(run, first.key, first.step), 60)], "viewer")
    assert review(run).accuracy.checked == 0
    for _ in range(5):
        answer(run, review(run, 1).items[0])
    assert review(run).accuracy.checked == 2


def test_it_says_when_further_corrections_change_little(run):
    assert not review(run).changes_little
    while review(run, 1).items:
        answer(run, review(run, 1).items[0])
    done = review(run)
    assert done.changes_little and done.n_left == 0 and done.n_answered == 60
    assert done.accuracy.checked == 60 // RANDOM_EVERY


def test_a_model_that_is_sure_and_wrong_does_not_end_the_review(tmp_path):
    from dataclasses import replace

    from crosstask.runs import write_localizations

    run = write_random_run(tmp_path / "run", calibrated=False)
    sure = [replace(f, steps=[replace(s, confidence=0.999) for s in f.steps]) for f in run.machine_localizations["hmm"].values()]
    write_localizations(run.folder, {"hmm": sure})
    assert not review(run).changes_little, "nothing was checked"
    for _ in range(20):
        answer(run, review(run, 1).items[0])
    assert review(run).expected_wrong > 0.2 and not review(run).changes_little
    right = [
        [replace(s, moment_s=truth_of(run, k, i).intervals[0].start_s) for i, s in enumerate(f.steps)]
        for k, f in run.machine_localizations["hmm"].items()
    ]
    write_localizations(run.folder, {"hmm": [replace(f, steps=steps) for f, steps in zip(sure, right, strict=True)]})
    for _ in range(20):
        answer(run, review(run, 1).items[0])
    assert review(run).changes_little and review(run).n_left == 20


@pytest.mark.parametrize("calibrated", [True, False])
def test_the_random_fifth_estimates_the_accuracy_within_its_interval(tmp_path, calibrated):
    """Also where confidence means nothing; the large simulation is benchmarks/synthetic/review.py."""
    covered, by_gain = [], []
    for seed in range(20):
        run = write_random_run(tmp_path / f"{calibrated}{seed}", seed, calibrated=calibrated)
        for _ in range(30):
            answer(run, review(run, 1).items[0])
        low, high = review(run).accuracy.interval
        covered.append(low <= true_accuracy(run) <= high)
        outcomes = [label.right for change in run.labels.changes() if change.drawn == "gain" for label in change.labels]
        by_gain.append(sum(outcomes) / len(outcomes) - true_accuracy(run))
    assert sum(covered) >= 18
    if calibrated:
        assert sum(by_gain) / 20 < -0.05, "the steps chosen by gain are worse than the run, so they must not enter the estimate"
