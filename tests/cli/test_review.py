from cli.running import crosstask, json_of, refused
from correction.runs import answer, write_random_run
from crosstask.correction.queue import review


def test_the_queue_is_printed_with_the_accuracy(tmp_path):
    run = write_random_run(tmp_path / "run")
    first = json_of("review", run.folder, "--top", 10)
    assert [item["drawn"] for item in first["items"]] == (["gain"] * 4 + ["random"]) * 2
    assert (
        first["accuracy"]["accuracy"] is None and first["answered"] == 0 and first["left"] == 60 and not first["changes_little"]
    )
    assert {"task", "video", "number", "step", "moment_s", "start_s", "end_s", "p_right", "shown"} <= set(first["items"][0])
    for _ in range(5):
        answer(run, review(run, 1).items[0])
    second = json_of("review", run.folder, "--top", 10)
    assert second["accuracy"]["checked"] == 1 and second["corrected"] == 5
    words = crosstask("review", run.folder).stdout
    assert "5 corrected" in words and "1 drawn at random" in words and "next 20 of 55 steps to check" in words
    assert "no such folder" in refused("review", tmp_path / "none")
