"""A run is written into no folder that holds something else."""

from dataclasses import replace
from pathlib import Path

import pytest

from crosstask.records import InputError
from crosstask.runs import claim_run_folder, refuse_place_of_run, write_run
from tiny import tiny_run


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


def test_a_run_is_not_written_to_the_root_of_a_disk_nor_through_a_link_to_nothing(tmp_path):
    (tmp_path / "run").symlink_to("/mnt/not-mounted/run")
    with pytest.raises(InputError, match="a link to /mnt/not-mounted/run, which is not there"):
        claim_run_folder(tmp_path / "run", "run")
    with pytest.raises(InputError, match="--out /: the root of a disk; name a folder"):
        refuse_place_of_run(Path("/"))


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
    half = [video.content for video in away[: -(-len(away) // 2)]]
    claim_run_folder(folder, "demo", new, ids, lambda: [*half, "other"])
    with pytest.raises(InputError, match=f"it holds the steps found in other videos, such as {away[0].id}"):
        claim_run_folder(folder, "demo", new, ids, lambda: ["other"])
    write_run(folder, replace(run, videos=tuple(replace(v, content=None) for v in away)), {"proposed": parses})
    claim_run_folder(folder, "demo", new, ids, lambda: ["other"])
    with pytest.raises(InputError, match="it holds the steps found in other videos"):
        claim_run_folder(folder, "demo", new, ["new"], lambda: ["other"])


def test_a_run_of_other_videos_without_files_is_not_overwritten(tmp_path):
    """Feature files and subtitles have no video file by which they could be told apart."""
    folder, run, _ = tiny_run(tmp_path / "r")
    ids = [video.id for video in run.videos]
    claim_run_folder(folder, "demo", ids=["new", *ids[: -(-len(ids) // 2)]])
    with pytest.raises(InputError, match=f"it holds the steps found in other videos, such as {ids[1]}"):
        claim_run_folder(folder, "demo", ids=["new", ids[0]])  # two collections have a video of one name
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
    with pytest.raises(InputError, match="annotations that are not labels of a run"):
        claim_run_folder(tmp_path, "localize")
    (tmp_path / "labels.jsonl").write_text("")
    claim_run_folder(tmp_path, "localize")


def test_a_damaged_run_can_be_made_again(tmp_path):
    claim_run_folder(tmp_path, "run")
    (tmp_path / "run.json").write_text("{")
    claim_run_folder(tmp_path, "run")


@pytest.mark.parametrize(
    "name",
    [
        "run.json",
        "model.safetensors",
        "report.html",
        "results.csv",
        "jobs/tuning.json",
        "transcripts/a.json",
        "figures/map.svg",
        "scores/hmm/1_a.npy",
    ],
)
@pytest.mark.parametrize("kind", ["run", "localize", "demo", "experiment"])
def test_a_run_is_not_written_over_files_that_are_of_no_run(tmp_path, name, kind):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(
        InputError, match=f"its {name.partition('/')[0]} does not belong to a run and would be overwritten or removed"
    ):
        claim_run_folder(tmp_path, kind)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / name]


def test_what_an_interrupted_command_left_may_be_overwritten_by_the_next_of_its_kind(tmp_path):
    claim_run_folder(tmp_path, "run")
    claim_run_folder(tmp_path, "localize")  # nothing was left
    (tmp_path / "model.safetensors").write_text("of the interrupted command")
    claim_run_folder(tmp_path, "localize")
    with pytest.raises(InputError, match="it holds the run of `crosstask localize`, which would be overwritten"):
        claim_run_folder(tmp_path, "run")


def test_a_run_that_was_copied_without_its_hidden_file_is_known(tmp_path):
    folder, *_ = tiny_run(tmp_path / "r")
    assert not list(folder.glob(".crosstask-run"))
    claim_run_folder(folder, "demo")
    with pytest.raises(InputError, match="it holds the run of `crosstask demo`"):
        claim_run_folder(folder, "experiment")


def test_a_run_is_not_written_over_the_results_of_an_experiment_that_left_no_run(tmp_path):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "results.json").write_text('{"experiment": "no-narration"}')
    for kind in ("run", "localize", "demo"):
        with pytest.raises(InputError, match="it holds the run of `crosstask experiment`, which would be overwritten"):
            claim_run_folder(tmp_path, kind)
    claim_run_folder(tmp_path, "experiment")
