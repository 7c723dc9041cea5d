import json

import numpy as np
import pytest

from cli.running import crosstask
from crosstask.pipeline.corpus_problems import problems_of_folder
from tiny import write_tiny


@pytest.fixture
def broken(tmp_path):
    """A corpus with one of every fault."""
    write_tiny(tmp_path)
    release, features, windows = (
        tmp_path / name for name in ("crosstask_release", "crosstask_features", "crosstask_constraints")
    )
    (release / "annotations" / "1_-v1_0.csv").write_text("1,0,2\n9,3,4\n")
    (release / "annotations" / "1_-v1_1.csv").write_text("1,0,2\n2,3,900\n")
    (release / "annotations" / "1_-v1_2.csv").write_text("2,7,7\n3,18,20.4\n")
    (release / "annotations" / "1_-v1_3.csv").write_text("1,1,5,20\n")
    (features / "-v1_3.npy").write_bytes((features / "-v1_3.npy").read_bytes()[:-30])
    np.save(features / "-v2_0.npy", np.zeros((20, 7), np.float32))
    np.save(features / "-v2_1.npy", np.zeros((6, 20), np.float32))
    bad = np.zeros((20, 6), np.float32)
    bad[3, 2] = np.nan
    np.save(features / "-v2_2.npy", bad)
    with (release / "videos.csv").open("a") as file:
        file.write("30,-v30_0,again\n")
    with (release / "tasks_related.txt").open("a") as file:
        file.write("31\nMake Nothing\nhttp\n1\nwait\n\n")
    (windows / "30_-v30_1.csv").write_text("1,15,17\n2,3,5\n")
    (tmp_path / "crosstask_subtitles").mkdir()
    german = (
        "heute zeigen wir euch wie man einen kakao kocht und dafür brauchen wir milch und zucker und dann rühren wir alles gut um"
    )
    (tmp_path / "crosstask_subtitles" / "-v30_2.vtt").write_text(f"WEBVTT\n\n00:00:01.000 --> 00:00:09.000\n{german}\n", "utf-8")
    return tmp_path


def test_every_problem_at_once_with_its_place(broken):
    done = crosstask("validate", broken, "--json")
    assert done.returncode == 2
    found = [(p["file"], p["line"], p["message"], p["severity"]) for p in json.loads(done.stdout)["problems"]]

    def problem(file, line, words, severity="error"):
        return any(f.endswith(file) and n == line and words in message and s == severity for f, n, message, s in found)

    assert problem("annotations/1_-v1_0.csv", 2, "step 9 does not exist")
    assert problem("annotations/1_-v1_1.csv", 2, "ends at 900 s; the video has 20 seconds")
    assert problem("annotations/1_-v1_2.csv", 1, "starts and ends at 7 s: no moment lies in it", "warning")
    assert problem("annotations/1_-v1_2.csv", 2, "ends 0.40 s after the video", "warning")
    assert problem("annotations/1_-v1_3.csv", 1, "found '1,1,5,20'; expected the numbers step,start,end")
    assert problem("-v1_3.npy", None, "truncated")
    assert problem("-v2_0.npy", None, "7 columns; the other videos have 6")
    assert problem("-v2_1.npy", None, "looks transposed")
    assert problem("-v2_2.npy", None, "row 3, column 2 is NaN")
    assert problem("videos.csv", 13, "listed twice", "warning")
    assert problem("videos.csv", None, "'Make Nothing' has no videos", "warning")
    assert problem("30_-v30_1.csv", None, "no ordered answer", "warning")
    assert problem("subtitles/-v30_2", None, "the speech is in ", "warning")


def test_features_in_archives_are_checked_like_others(tmp_path):
    steps = [{"step_id": 1, "description": "Boil-Boil water", "start_time": 1, "end_time": 4}]
    said = {
        f"1_{i}": {"activity_id": 1, "activity_name": "Tea", "person_id": i, "environment": 1, "steps": steps} for i in range(6)
    }
    (tmp_path / "complete_step_annotations.json").write_text(json.dumps(said))
    paths = [tmp_path / f"1_{i}_360p.mp4_1s_1s.npz" for i in range(5)]
    for path, rows in zip(
        paths, (np.ones((9, 8)), np.full((9, 8), np.nan), np.ones((9, 5)), np.ones((9, 8)), np.ones((9, 8))), strict=True
    ):
        np.savez(path, rows.astype(np.float32))
    paths[0].write_bytes(paths[0].read_bytes()[:300])
    found = problems_of_folder(tmp_path)
    for name, words in zip(
        paths, ("not an archive", "row 0, column 0 is NaN", "5 columns; the other videos have 8"), strict=False
    ):
        assert any(p.file.endswith(name.name) and words in p.message and p.severity == "error" for p in found), words
    assert any("missing" in p.message and "1_5" in p.file for p in found)


def test_an_empty_step_and_a_short_task_are_named(tmp_path):
    write_tiny(tmp_path)
    (tmp_path / "crosstask_release" / "tasks_related.txt").write_text("30\nMake Cocoa\nhttp\n2\nboil milk,\n\n")
    done = crosstask("validate", tmp_path)
    assert done.returncode == 2 and "tasks_related.txt, line 5: 'Make Cocoa' has an empty step" in done.stdout


def test_videos_that_run_leaves_out_are_named(tmp_path):
    (tmp_path / "corpus.toml").write_text("".join(f'[tasks.{task}]\nsteps = ["pour milk"]\n' for task in "abc"))
    for name in ("a/x.mp4", "b/X.mp4", "c/a-x.mp4", "c/b-x.mp4", "c/two\nlines.mp4"):
        (tmp_path / "videos" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "videos" / name).write_bytes(name.encode())
    found = [str(problem) for problem in problems_of_folder(tmp_path)]
    assert any("are different videos of one name; rename one; both are left out" in line for line in found)
    assert any("cannot name a file" in line and "this file is left out" in line for line in found)


def test_a_sound_corpus_has_no_problems(tmp_path):
    write_tiny(tmp_path)
    done = crosstask("validate", tmp_path)
    assert done.returncode == 0 and "no problems" in done.stdout


def test_the_real_release_has_six_clipped_annotations_and_no_error(real_data):
    done = crosstask("validate", real_data / "crosstask", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0 and report["errors"] == 0
    assert sum("clipped" in p["message"] for p in report["problems"]) == 6


def test_training_goes_on_around_bad_videos_and_names_them(tmp_path):
    write_tiny(tmp_path)
    features, windows = tmp_path / "crosstask_features", tmp_path / "crosstask_constraints"
    (features / "-v1_1.npy").unlink()
    np.save(features / "-v1_2.npy", np.zeros((2, 6), np.float32))
    (windows / "1_-v1_3.csv").write_text("1,15,17\n2,3,5\n3,1,2\n")
    (windows / "2_-v2_1.csv").unlink()
    done = crosstask(
        "train", tmp_path, "--out", tmp_path / "m.safetensors", "--epochs", 2, "--initial-epochs", 2, "--recipe", "paper"
    )
    assert done.returncode == 0, done.stderr
    assert "1 video with fewer segments than steps, left out: 1_-v1_2" in done.stderr
    assert "1 video whose windows allow no ordered answer, trained with order alone: 1_-v1_3" in done.stderr
    assert "1 video without windows, trained with order alone: 2_-v2_1" in done.stderr


def test_one_task_and_five_videos_work_and_say_what_to_expect(tmp_path):
    write_tiny(tmp_path, videos_per_task=6)
    listed = tmp_path / "list.txt"
    listed.write_text("".join(f"1_-v1_{i}\n" for i in range(1, 6)))
    done = crosstask(
        "train", tmp_path, "--out", tmp_path / "m.safetensors", "--videos", listed, "--epochs", 2, "--recipe", "paper"
    )
    assert done.returncode == 0 and "one task" in done.stderr and "only 5 videos" in done.stderr


def test_values_that_training_refuses_or_that_dwarf_the_others_are_listed(tmp_path):
    write_tiny(tmp_path)
    for name, dtype, value in (("-v1_0", np.float64, 1e300), ("-v1_1", np.float32, 1e30), ("-v2_0", np.float32, -1e12)):
        rows = np.load(tmp_path / "crosstask_features" / f"{name}.npy").astype(dtype)
        rows[3, 2] = value
        np.save(tmp_path / "crosstask_features" / f"{name}.npy", rows)
    done = crosstask("validate", tmp_path)
    assert done.returncode == 2 and "1 error, 2 warnings" in done.stdout
    assert "error: crosstask_features/-v1_0.npy: row 3, column 2 is 1e+300, too large for float32: scale" in done.stdout
    assert "warning: crosstask_features/-v1_1.npy: values up to 1e+30; expected at most 1e+18" in done.stdout
    assert "warning: crosstask_features/-v2_0.npy: values up to 1e+12; in most videos up to " in done.stdout


def test_videos_that_are_not_used_are_listed(tmp_path):
    (tmp_path / "corpus.toml").write_text('[tasks.tea]\nsteps = ["boil water", "pour"]\n')
    for name in ("tea/a.mp4", "tea/a.mkv", "te/b.mp4", "c.mp4", "tea/d.xyz"):
        (tmp_path / "videos" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "videos" / name).write_bytes(b"")
    listed = json.loads(crosstask("validate", tmp_path, "--json").stdout)["problems"]
    found = {(problem["file"], problem["severity"]) for problem in listed}
    assert {("videos/tea/a.mp4", "warning"), ("videos/te", "warning"), ("videos/c.mp4", "warning")} <= found
    assert ("videos/tea/d.xyz", "warning") in found
