import errno
import re

import pytest

from crosstask.records import FoundStep, InputError, Interval, StepInterval, VideoKey
from crosstask.report import strips
from crosstask.report.page import write_report
from crosstask.report.strips import picture_path, read_strips, seconds_shown, strips_section, true_second, verdict_words
from crosstask.runs import open_run
from crosstask.storage import write_bytes, write_json
from report.checker import Checker
from runs.test_folder import tiny_run

TRUTH = (StepInterval(0, Interval(2, 6)), StepInterval(0, Interval(20, 30)), StepInterval(2, Interval(8, 9)))


def with_frames(folder, n_bytes=500, unseen=False, listed=2):
    """A run folder with frames for its first videos, each of other bytes."""
    _, run, parses = tiny_run(folder)
    entries = []
    for video, parse in list(zip(run.videos, parses, strict=True))[:listed]:
        for second in seconds_shown(parse, video.truth):
            write_bytes(picture_path(folder, video.key, second), f"{video.id} {second} ".encode().ljust(n_bytes, b"x"))
        entries.append({"method": "proposed", "task": video.task, "video": video.id, "unseen": unseen})
    write_json(folder / "frames" / "strips.json", {"format": 1, "strips": entries})
    return run, parses


@pytest.mark.parametrize(("step", "second", "expected"), [(0, 0, 4), (0, 18, 25), (0, 12, 4), (1, 3, None), (2, 50, 8)])
def test_the_true_moment_is_in_the_nearest_true_interval(step, second, expected):
    assert true_second(TRUTH, step, second) == expected and true_second(None, step, second) is None


def test_verdicts_are_words_besides_colours():
    def words(truth, second, shown=True):
        return verdict_words(truth, 0, FoundStep("stir", second, 0.0, 0, 1, shown), 40)[1]

    assert words(TRUTH, 3) == "✓ right" and words(TRUTH, 10) == "✗ wrong" and words((), 3) == "✗ localized, but not shown"
    assert words(None, 3) == "found" and words(TRUTH, 3, shown=False) == "✓ right; ? predicted not shown"
    assert len({verdict_words(TRUTH, 0, FoundStep("s", s, 0.0, 0, 1), 40)[0] for s in (3, 10)}) == 2


def test_each_step_is_shown_where_found_and_where_true(tmp_path):
    run, parses = with_frames(tmp_path / "r", unseen=True)
    text = write_report(tmp_path / "r").read_text("utf-8")
    checker = Checker()
    checker.feed(text)
    assert checker.open == [] and all(link.startswith("data:") for link in checker.links)
    section = strips_section(open_run(tmp_path / "r"))
    assert section in text and section.count("<figure") == sum(len(p.steps) for p in parses[:2])
    assert section.count("never trained on this task") == 2 and "no picture" not in section
    for video, parse in zip(run.videos[:2], parses[:2], strict=True):
        for k, step in enumerate(parse.steps):
            assert f'alt="{step.name}, found 0:{step.segment:02d}"' in section
            true = true_second(video.truth, k, step.segment)
            assert true is None or f'alt="{step.name}, truth 0:{true:02d}"' in section


def test_a_page_stays_small_and_says_what_it_left_out(tmp_path, monkeypatch):
    _, parses = with_frames(tmp_path / "r", n_bytes=1000)
    monkeypatch.setattr(strips, "MAX_BYTES", 1000 * 2 * len(parses[0].steps))
    section = strips_section(open_run(tmp_path / "r"))
    assert section.count("<h4>") == 1 and "would make this page too large" in section


def test_only_small_files_of_the_run_are_shown(tmp_path):
    run, _ = with_frames(tmp_path / "r", listed=1)
    first, second = sorted((tmp_path / "r" / "frames" / str(run.videos[0].key)).glob("*.jpg"))[:2]
    first.unlink()
    (tmp_path / "secret").write_bytes(b"secret")
    first.symlink_to(tmp_path / "secret")
    second.write_bytes(b"x" * 70_000)
    section = strips_section(open_run(tmp_path / "r"))
    assert section.count("no picture") >= 2 and len(section) < 20_000
    with pytest.raises(InputError, match="cannot name a file"):
        picture_path(tmp_path, VideoKey("..", "/x"), 1)


@pytest.mark.parametrize("text", ["", "[]", '{"strips": [1]}', '{"strips": [{"method": "m"}]}', "[" * 100_000])
def test_a_damaged_list_means_no_strips(tmp_path, text):
    with_frames(tmp_path / "r")
    (tmp_path / "r/frames/strips.json").write_text(text)
    assert read_strips(tmp_path / "r") == [] and strips_section(open_run(tmp_path / "r")) == ""


def test_a_run_without_frames_has_no_section(tmp_path):
    folder, _, _ = tiny_run(tmp_path / "r")
    assert strips_section(open_run(folder)) == "" and not re.search("<h2>Frames", write_report(folder).read_text("utf-8"))


def test_a_disk_that_fails_does_not_leave_a_report_without_pictures(tmp_path, monkeypatch):
    def fail(path, encoding):
        raise OSError(errno.EIO, "Input/output error", str(path))

    assert read_strips(tmp_path) == []
    monkeypatch.setattr(strips, "read_text", fail)
    with pytest.raises(OSError, match="Input/output error"):
        read_strips(tmp_path)
