import pytest

from crosstask.export.chapters import webvtt, youtube
from export.videos import VIDEO, video_of


def test_webvtt_is_read_by_webvtt_py():
    webvtt_py = pytest.importorskip("webvtt")
    cues = webvtt_py.from_string(webvtt(VIDEO)).captions
    assert [(cue.start, cue.end) for cue in cues] == [
        ("00:00:03.250", "00:00:09.500"),
        ("00:00:20.000", "00:00:30.000"),
        ("00:01:01.000", "00:01:10.125"),
    ]
    assert cues[0].text == "pour milk"


def lines(text):
    return [line.split(" ", 1) for line in text.splitlines()]


def test_youtube_starts_at_zero_and_keeps_ten_seconds():
    text, remarks = youtube(video_of(("a", 4, 6), ("b", 9, 12), ("c", 30, 33), ("d", 35, 36), ("e", 60, 61), ("f", 115, 118)))
    assert lines(text) == [["0:00", "a, b"], ["0:30", "c, d"], ["1:00", "e, f"]]
    assert len(remarks) == 4 and any("moved from 4 s to 0:00" in r for r in remarks)


def test_youtube_adds_an_introduction_and_says_when_too_few_are_left():
    text, remarks = youtube(video_of(("a", 40, 50)))
    assert lines(text) == [["0:00", "Introduction"], ["0:40", "a"]]
    assert any("fewer than 3" in r for r in remarks)


def test_youtube_in_long_videos_counts_hours():
    text, _ = youtube(video_of(("a", 0, 5), ("b", 3700, 3800), ("c", 4000, 4100), length=5000.0))
    assert [clock for clock, _ in lines(text)] == ["0:00:00", "1:01:40", "1:06:40"]


def test_youtube_text_is_not_escaped():
    text, _ = youtube(video_of(("salt & pepper", 0, 5), ("stir\n --> <b>", 30, 40), ("", 60, 70)))
    assert lines(text) == [["0:00", "salt & pepper"], ["0:30", "stir --> <b>"], ["1:00", "-"]]


def test_webvtt_text_is_escaped_and_cannot_begin_a_cue():
    assert "stir --&gt; &amp; &lt;b>\n" in webvtt(VIDEO)


def test_an_arrow_of_any_length_in_a_name_is_no_timing_line():
    text = webvtt(video_of(("boil ---> pour", 0, 5), ("a -----> b", 30, 40)))
    assert [line for line in text.splitlines() if "-->" in line] == [
        "00:00:00.000 --> 00:00:05.000",
        "00:00:30.000 --> 00:00:40.000",
    ]
