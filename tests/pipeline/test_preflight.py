"""Warnings before a run trains."""

from pathlib import Path

from crosstask.pipeline.preflight import warn_about_few_videos
from crosstask.records import Video


def videos(**counts):
    return [Video(task, f"{task}{i}") for task, count in counts.items() for i in range(count)]


def test_few_videos_are_said_with_the_cheapest_remedy(caplog):
    warn_about_few_videos(videos(tea=4, latte=4), Path("my run"))
    assert caplog.messages == [
        "4 videos a task: expect little more than even spacing. Mark five moments with `crosstask review 'my run'`, "
        "or add videos: 10 are a start."
    ]


def test_tasks_with_enough_videos_are_not_counted(caplog):
    warn_about_few_videos(videos(tea=10, latte=12), Path("run"))
    assert caplog.messages == []
    warn_about_few_videos(videos(tea=1, latte=12, soup=3), Path("run"))
    assert caplog.messages[0].startswith("1 to 3 videos a task in 2 of 3 tasks: expect")
