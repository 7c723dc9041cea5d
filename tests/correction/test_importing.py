"""Labels leave by `export` and come back by `labels import`: into a fresh run they give the same answers; nothing is overwritten."""

import shutil
from dataclasses import replace

import pytest

from correction.runs import write_random_run
from crosstask.correction.importing import import_labels
from crosstask.export import export_run
from crosstask.records import FoundStep, InputError, Interval, Localization, StepLabel, Task, VideoKey
from crosstask.runs import Run, RunLabel, RunVideo, label_of, open_run, write_run
from fuzz.hanging import no_hang

KEY, OTHER = VideoKey("1", "v3"), VideoKey("2", "v3")  # one video id under two tasks


@pytest.fixture
def run(tmp_path):
    return write_random_run(tmp_path / "run")


def label(run, key, *said):
    found = run.machine_localizations["hmm"][key].steps
    run.labels.append(key, [label_of(one.step, found[one.step], one, 60) for one in said], "viewer")


def answers(run):
    return {
        key: [
            (s.shown, round(s.start_s, 1), round(s.end_s, 1), len(s.intervals)) if s.by == "person" else None for s in found.steps
        ]
        for key, found in run.localizations["hmm"].items()
    }


@pytest.fixture
def labelled(run, tmp_path):
    shutil.copytree(run.folder, tmp_path / "fresh")
    label(run, KEY, StepLabel(0, intervals=(Interval(2, 5.5), Interval(50, 52.25))), StepLabel(3, intervals=(Interval(0, 59),)))
    label(run, OTHER, StepLabel(1, intervals=(Interval(7.5, 9.0),)))
    return run, open_run(tmp_path / "fresh")


@pytest.mark.parametrize("name", ["csv", "activitynet", "label-studio"])
def test_what_is_exported_from_one_run_is_imported_into_another(labelled, tmp_path, name):
    run, fresh = labelled
    (path,), _ = export_run(run, [name], tmp_path / "out")
    report = import_labels(fresh, path)
    assert report.mismatches == [] and report.kept == []
    assert report.imported == {KEY: ["pour milk", "serve"], OTHER: ["pour water"]}
    assert answers(fresh) == answers(run)
    size = (fresh.folder / "labels.jsonl").stat().st_size
    again = import_labels(fresh, path)
    assert again.n_imported == 0 and len(again.kept) == 3 and (fresh.folder / "labels.jsonl").stat().st_size == size


def test_chapters_come_back_video_by_video(labelled, tmp_path):
    run, fresh = labelled
    export_run(run, ["vtt"], tmp_path / "out")
    for key in (KEY, OTHER):
        report = import_labels(fresh, tmp_path / "out" / "vtt" / f"{key}.vtt")
        assert report.mismatches == [] and list(report.imported) == [key]
    assert answers(fresh) == answers(run)


def test_labels_of_thousands_of_videos_are_imported_in_linear_time(tmp_path):
    """Hours in the cubic time of reading all labels again for each video, and looking at all videos for each row."""
    run = write_random_run(tmp_path / "run", videos_per_task=3000)
    (path,), _ = export_run(run, ["csv"], tmp_path / "out")
    with no_hang():
        report = import_labels(run, path, confirm=True)
    assert report.n_imported == 3000 * 6 and len(run.labels.labels()) == 6000
    with no_hang():
        assert import_labels(run, path, confirm=True).n_imported == 0


def test_moments_and_absence_come_back_as_csv(run, tmp_path):
    shutil.copytree(run.folder, tmp_path / "fresh")
    label(run, KEY, StepLabel(0), StepLabel(1, moment_s=33.0))
    (path,), _ = export_run(run, ["csv"], tmp_path / "out")
    fresh = open_run(tmp_path / "fresh")
    assert import_labels(fresh, path).imported == {KEY: ["pour milk", "stir coffee"]}
    steps = fresh.localizations["hmm"][KEY].steps
    assert not steps[0].shown and steps[1].start_s <= 33 < steps[1].end_s
    assert [s.shown for s in run.localizations["hmm"][KEY].steps] == [s.shown for s in steps]


def test_confirmed_steps_come_back_as_csv(run, tmp_path):
    from crosstask.runs import confirmed

    shutil.copytree(run.folder, tmp_path / "fresh")
    label(run, KEY, *(confirmed(k, step) for k, step in enumerate(run.machine_localizations["hmm"][KEY].steps)))
    (path,), _ = export_run(run, ["csv"], tmp_path / "out")
    fresh = open_run(tmp_path / "fresh")
    assert import_labels(fresh, path).imported == {KEY: ["pour milk", "stir coffee", "pour coffee", "serve"]}
    assert answers(fresh)[KEY] == answers(run)[KEY]


def test_labels_that_are_there_win_and_are_named(run, tmp_path):
    label(run, KEY, StepLabel(0, moment_s=20.0))
    path = tmp_path / "steps.csv"
    path.write_text("task,video,step,start_s,end_s\nmake LATTE,v3, Pour  milk,1,2\nMake Latte,v3,serve,3,4\n")
    report = import_labels(run, path)
    assert report.kept == ["1_v3, 'pour milk'"] and report.imported == {KEY: ["serve"]}
    assert run.localizations["hmm"][KEY].steps[0].moment_s == 20.0


def test_of_contradicting_labels_of_two_copies_of_a_file_the_first_is_kept_and_the_other_named(run, tmp_path):
    first, *others = run.run.videos
    copies = [replace(first, content="a"), *(replace(one, content="a" if one.id == "v1" else None) for one in others)]
    write_run(run.folder, replace(run.run, videos=tuple(copies)), {"hmm": list(run.machine_localizations["hmm"].values())})
    (tmp_path / "said.csv").write_text("task,video,step,start_s,end_s\n1,v0,stir coffee,3,7\n1,v1,stir coffee,10,12\n")
    opened = open_run(run.folder)
    report = import_labels(opened, tmp_path / "said.csv")
    assert (report.n_imported, report.kept) == (1, ["1_v1, 'stir coffee' (the same file as v0)"])
    assert [opened.labels.labels()[VideoKey("1", v)][1].label.intervals for v in ("v0", "v1")] == [(Interval(3, 7),)] * 2


def test_every_mismatch_is_listed(run, tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text(
        "video,step,start_s,end_s,moment_s,shown\nv99,pour milk,1,2,,\n1_v3,fry egg,1,2,,\n1_v3,pour milk,1,200,,\n"
        "1_v3,serve,1,2,,\n1_v3,serve,,,,no\n2_v3,boil water,,,5,\n"
    )
    report = import_labels(run, path)
    said = "\n".join(report.mismatches)
    assert len(report.mismatches) == 4 and report.imported == {OTHER: ["boil water"]}
    assert "line 2: the run has no video 'v99'" in said and "line 3: step 'fry egg' is not in the list of 'Make Latte'" in said
    assert "ends after the video, which has 60 s" in said and "expected one kind" in said


def test_a_video_of_two_tasks_needs_the_task_only_where_both_have_the_step(run, tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text("video,step,moment_s\nv3,serve,1\nv3,boil water,2\n")
    assert import_labels(run, path).imported == {KEY: ["serve"], OTHER: ["boil water"]}


def test_steps_as_the_machine_found_them_are_labels_only_when_confirmed(run, tmp_path):
    (path,), _ = export_run(run, ["activitynet"], tmp_path / "out")
    shown = sum(step.shown for found in run.localizations["hmm"].values() for step in found.steps)
    report = import_labels(run, path)
    assert report.n_imported == 0 and report.unchanged == shown
    assert import_labels(run, path, confirm=True).n_imported == shown


def test_a_confirmed_moment_comes_back_from_a_table_as_that_moment(run, tmp_path):
    found = run.machine_localizations["hmm"][KEY].steps[0]
    path = tmp_path / "steps.csv"
    path.write_text(
        "video,step,moment_s,start_s,end_s,shown,by\n"
        f"1_v3,{found.name},{found.moment_s:g},{found.start_s:g},{found.end_s:g},yes,person\n"
    )
    assert import_labels(run, path).imported == {KEY: [found.name]}
    assert run.labels.labels()[KEY][0].label == StepLabel(0, moment_s=found.moment_s)


def test_a_file_of_label_studio_keeps_its_frame_rate(run, tmp_path):
    (path,), _ = export_run(run, ["label-studio"], tmp_path / "out", frames_per_second=10.0)
    shown = sum(step.shown for found in run.localizations["hmm"].values() for step in found.steps)
    for given in (None, 10.0):
        report = import_labels(run, path, given)
        assert report.n_imported == 0 and report.unchanged == shown and not report.mismatches
    with pytest.raises(InputError, match="its frames are 10 a second, not 25; leave out --fps"):
        import_labels(run, path, 25.0)


def test_what_a_file_says_twice_is_said_once(run, tmp_path):
    """Two annotators who agree, with each other or with the machine; a row that stands twice in a table."""
    found = run.machine_localizations["hmm"][KEY].steps
    rows = [
        f"1_v3,{found[0].name},{found[0].moment_s},{found[0].start_s},{found[0].end_s}\n",
        f"1_v3,{found[1].name},,40,44\n",
        f"1_v3,{found[2].name},{found[2].moment_s + 1},,\n",
    ]
    path = tmp_path / "steps.csv"
    path.write_text("".join(["video,step,moment_s,start_s,end_s\n", *rows, *rows]))
    report = import_labels(run, path)
    assert report.imported == {KEY: [found[1].name, found[2].name]} and report.unchanged == 1 and report.mismatches == []
    assert run.labels.labels()[KEY][1].label.intervals == (Interval(40, 44),)


def test_a_moment_that_alone_was_changed_is_a_label(run, tmp_path):
    """`export` writes moment and interval; a person may correct the moment and leave the interval around it."""
    found = run.machine_localizations["hmm"][KEY].steps[0]
    path = tmp_path / "steps.csv"
    row = f"video,step,moment_s,start_s,end_s\n1_v3,pour milk,{{:g}},{found.start_s:g},{found.end_s:g}\n"
    path.write_text(row.format(found.moment_s))
    assert import_labels(run, path).unchanged == 1
    path.write_text(row.format(found.moment_s + 1))
    assert import_labels(run, path).imported == {KEY: ["pour milk"]}
    assert run.localizations["hmm"][KEY].steps[0].moment_s == found.moment_s + 1


def test_a_moment_that_a_person_marked_is_a_moment_after_export_and_import(run, tmp_path):
    found = run.machine_localizations["hmm"][KEY].steps[0]
    marked = StepLabel(0, moment_s=found.moment_s + 0.3)
    run.labels.append(KEY, [RunLabel(0, found.name, marked)], "review")
    (path,), _ = export_run(run, ["csv"], tmp_path / "out")
    run.labels.append(KEY, [RunLabel(0, found.name, None)], "review")
    assert 0 not in run.labels.labels().get(KEY, {})
    assert import_labels(run, path).imported == {KEY: [found.name]}
    assert run.labels.labels()[KEY][0].label == marked


@pytest.fixture
def repeated(tmp_path):
    """A run of one video whose list names 'stir' three times: found out of order, and once not shown."""
    task = Task("1", "Make Latte", ("stir", "stir", "pour", "stir"))
    steps = [
        FoundStep("stir", 31.0, -1.0, 30.0, 35.0),
        FoundStep("stir", 11.0, -1.0, 10.0, 15.0),
        FoundStep("pour", 20.0, -1.0, 19.0, 22.0),
        FoundStep("stir", 0.0, -1.0, 0.0, 1.0, shown=False),
    ]
    run = Run("A run", "run", "crosstask run", 0, True, {"1": task}, (RunVideo("1", "v", 60),), ("hmm",))
    write_run(tmp_path / "repeated", run, {"hmm": [Localization("v", "1", steps)]})
    return open_run(tmp_path / "repeated")


@pytest.mark.parametrize("name", ["csv", "activitynet", "label-studio"])
@pytest.mark.parametrize("all_steps", [False, True])
def test_an_export_that_nobody_changed_makes_no_labels_where_a_step_name_is_repeated(repeated, tmp_path, name, all_steps):
    (path,), _ = export_run(repeated, [name], tmp_path / "out", all_steps=all_steps)
    report = import_labels(repeated, path)
    assert report.imported == {} and report.mismatches == []


def test_an_unchanged_row_that_stands_twice_is_no_label_of_another_step_of_its_name(repeated, tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text("video,step,start_s,end_s,shown\n" + "v,stir,30,35,yes\n" * 2)
    report = import_labels(repeated, path)
    assert report.imported == {} and report.unchanged == 1


@pytest.mark.parametrize("denied", [0, 1])
def test_an_export_says_which_of_two_absent_steps_of_one_name_a_person_denied(tmp_path, denied):
    """The untouched file makes no label of the other one."""
    steps = [FoundStep("stir", 0.0, -1.0, 0.0, 1.0, shown=False), FoundStep("stir", 9.0, -1.0, 9.0, 10.0, shown=False)]
    run = Run(
        "A run", "run", "crosstask run", 0, True, {"1": Task("1", "Tea", ("stir", "stir"))}, (RunVideo("1", "v", 60),), ("hmm",)
    )
    write_run(tmp_path / "run", run, {"hmm": [Localization("v", "1", steps)]})
    opened = open_run(tmp_path / "run")
    label(opened, VideoKey("1", "v"), StepLabel(denied))
    (path,), _ = export_run(opened, ["csv"], tmp_path / "out")
    assert [row.rsplit(",", 1)[1] == "person" for row in path.read_text().splitlines()[1:]] == [denied == 0, denied == 1]
    assert import_labels(opened, path).imported == {}
    assert opened.labels.labels()[VideoKey("1", "v")].keys() == {denied}


def test_a_step_that_a_person_says_is_shown_after_all_is_a_label(repeated, tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text("video,step,start_s,end_s,shown\nv,stir,30,35,yes\nv,stir,10,15,yes\nv,stir,0,1,yes\n")
    import_labels(repeated, path)
    assert repeated.labels.labels()[VideoKey("1", "v")].keys() == {3}


def test_a_changed_row_is_the_label_of_the_repeated_step_that_it_came_from(repeated, tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text("video,step,start_s,end_s,shown\nv,stir,10,15,yes\nv,stir,40,44,yes\n")
    assert import_labels(repeated, path).imported == {VideoKey("1", "v"): ["stir"]}
    assert repeated.labels.labels()[VideoKey("1", "v")].keys() == {0}


def test_repeated_steps_that_the_run_has_elsewhere_are_taken_in_order_of_time(repeated, tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text("video,step,start_s,end_s\nv,stir,50,54\nv,stir,40,44\nv,stir,45,49\nv,stir,55,58\n")
    report = import_labels(repeated, path)
    assert [one.label.intervals[0].start_s for one in repeated.labels.labels()[VideoKey("1", "v")].values()] == [40, 45, 50]
    assert len(report.mismatches) == 1 and "stands 3 times in the list, and once more in the file" in report.mismatches[0]
