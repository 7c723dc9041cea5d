"""Properties that hold for every subtitle reader, and how each handles invalid files."""

import json
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosstask.datasets.subtitle_folders import SubtitleFolders, files_by_video
from crosstask.datasets.subtitles import READERS, parse_narration, read_narration
from crosstask.model.joint_localization import narration_beside, subtitles_beside
from crosstask.records import InputError, Narration, Word
from fuzz.hanging import no_hang


def texts(narration: Narration) -> list[str]:
    return [word.text for word in narration.words]


def stamp(seconds: float, mark: str = ".") -> str:
    ms = round(seconds * 1000)
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}{mark}{ms % 1000:03}"


def as_vtt(cues: list[tuple[float, float, str]]) -> str:
    return "WEBVTT\n\n" + "".join(f"{stamp(a)} --> {stamp(b)}\n{text}\n\n" for a, b, text in cues)


def as_srt(cues: list[tuple[float, float, str]]) -> str:
    return "".join(f"{i}\n{stamp(a, ',')} --> {stamp(b, ',')}\n{text}\n\n" for i, (a, b, text) in enumerate(cues, 1))


def as_json(cues: list[tuple[float, float, str]]) -> str:
    return json.dumps([{"start": a, "end": b, "text": text} for a, b, text in cues])


def as_json3(cues: list[tuple[float, float, str]]) -> str:
    events = [
        {"tStartMs": round(a * 1000), "dDurationMs": round((b - a) * 1000), "segs": [{"utf8": text}]} for a, b, text in cues
    ]
    return json.dumps({"wireMagic": "pb3", "events": [{"tStartMs": 0, "id": 1}, *events]})


WRITERS = {".vtt": as_vtt, ".srt": as_srt, ".json": as_json, ".json3": as_json3}

moments = st.integers(0, 36_000_000).map(lambda ms: ms / 1000)
# Letters of any script; no digits (an SRT line of digits is a number) and none of the marks that styling uses.
spoken_words = st.text(
    st.characters(whitelist_categories=("Lu", "Ll", "Lo", "Mn"), max_codepoint=0xFFFF), min_size=1, max_size=8
).filter(lambda text: len(text.split()) == 1)
cue_lists = st.lists(
    st.tuples(moments, st.integers(0, 9000).map(lambda ms: ms / 1000), st.lists(spoken_words, max_size=6)), max_size=8
).map(lambda cues: [(round(a, 3), round(a + d, 3), f"#{i} " + " ".join(words)) for i, (a, d, words) in enumerate(cues)])


def test_every_reader_has_a_writer() -> None:
    assert set(WRITERS) == set(READERS)


@pytest.mark.parametrize("ending", sorted(READERS))
@given(cues=cue_lists)
@settings(max_examples=60, deadline=None)
def test_every_word_once_in_order_with_nondecreasing_times(ending: str, cues: list[tuple[float, float, str]]) -> None:
    narration = parse_narration(Path("video" + ending), WRITERS[ending](cues).encode() or b" \n") if cues else Narration(())
    expected = [word for _, _, text in sorted(cues, key=lambda cue: cue[0]) for word in text.split()]
    assert texts(narration) == expected
    starts = [word.start_s for word in narration.words]
    assert starts == sorted(starts)
    assert all(word.start_s <= word.end_s for word in narration.words)
    assert all(a.last_word == b.first_word and a.end_s <= b.start_s for a, b in pairwise(narration.cues))
    latest = max((b for _, b, _ in cues), default=0)
    assert all(word.end_s <= latest + 1e-6 for word in narration.words)


@pytest.mark.parametrize("ending", sorted(READERS))
@given(cues=cue_lists.filter(bool))
@settings(max_examples=30, deadline=None)
def test_crlf_and_byte_order_mark_are_ignored(ending: str, cues: list[tuple[float, float, str]]) -> None:
    text = WRITERS[ending](cues)
    plain = parse_narration(Path("v" + ending), text.encode())
    assert parse_narration(Path("v" + ending), b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()) == plain
    assert parse_narration(Path("v" + ending), text.encode("utf-16")) == plain


@pytest.mark.parametrize("ending", [*sorted(READERS), ".txt"])
@given(
    data=st.one_of(
        st.binary(max_size=300), st.text(alphabet='WEBVT0123456789:.,-> \n<>c/[]{}"startendx', max_size=300).map(str.encode)
    )
)
@settings(max_examples=300, deadline=None)
def test_any_bytes_give_a_narration_or_an_input_error(ending: str, data: bytes) -> None:
    try:
        narration = parse_narration(Path("v" + ending), data)
    except InputError as problem:
        assert "\n" not in str(problem)
        return
    assert [w.start_s for w in narration.words] == sorted(w.start_s for w in narration.words)


@given(cut=st.integers(0, 400), ending=st.sampled_from(sorted(READERS)))
@settings(max_examples=150, deadline=None)
def test_truncated_files_never_crash(cut: int, ending: str) -> None:
    text = WRITERS[ending]([(0, 2.5, "crack two eggs"), (2, 4, "whisk them <i>well</i>"), (4, 9, "pour & stir")])
    for broken in (text[:cut], text[cut:], text[:cut] + "\x0b\u2028" + text[cut:], text[:cut] + "-->" + text[cut:]):
        try:
            parse_narration(Path("v" + ending), broken.encode())
        except InputError as problem:
            assert str(problem).startswith("v" + ending)


YOUTUBE = """WEBVTT
Kind: captions
Language: en

00:00:00.030 --> 00:00:02.840 align:start position:0%
 
hi<00:00:00.400><c> everyone</c><00:00:01.500><c> today</c>

00:00:02.840 --> 00:00:02.850 align:start position:0%
hi everyone today
 

00:00:02.850 --> 00:00:05.000 align:start position:0%
hi everyone today
we<00:00:03.000><c> make</c><00:00:04.000><c> toast</c>

00:00:05.000 --> 00:00:05.010 align:start position:0%
we make toast
 

00:00:05.010 --> 00:00:07.000 align:start position:0%
we make toast
toast<00:00:05.500><c> [Music]</c><00:00:06.000><c> toast</c>
"""


def test_rolling_captions_keep_each_word_once_at_its_time() -> None:
    narration = parse_narration(Path("v.vtt"), YOUTUBE.encode())
    assert texts(narration) == ["hi", "everyone", "today", "we", "make", "toast", "toast", "toast"]
    assert [word.start_s for word in narration.words] == [0.03, 0.4, 1.5, 2.85, 3.0, 4.0, 5.01, 6.0]
    assert narration.language == "en"
    assert [cue.first_word for cue in narration.cues] == [0, 3, 6]


def test_captions_growing_word_by_word_are_not_repeated() -> None:
    grown = [(0, 1, "pour"), (1, 2, "pour the"), (2, 3, "pour the milk"), (3, 4, "pour the milk slowly")]
    narration = parse_narration(Path("v.srt"), as_srt(grown).encode())
    assert [(w.text, w.start_s) for w in narration.words] == [("pour", 0), ("the", 1), ("milk", 2), ("slowly", 3)]


def test_repeated_sentence_is_kept_twice() -> None:
    cues = [(0, 2, "stir it well"), (2, 4, "stir it well"), (5, 8, "then pour"), (8, 9, "and wait"), (9, 10, "a bit")]
    assert texts(parse_narration(Path("v.vtt"), as_vtt(cues).encode())).count("stir") == 2


def test_overlapping_cues_end_where_the_next_begins() -> None:
    narration = parse_narration(Path("v.vtt"), as_vtt([(0, 5, "one two"), (3, 8, "three"), (3, 9, "four")]).encode())
    assert [(cue.start_s, cue.end_s) for cue in narration.cues] == [(0, 3), (3, 6), (6, 9)]


def test_words_share_their_cue_in_proportion_to_length() -> None:
    narration = parse_narration(Path("v.json"), as_json([(10, 20, "a aaaa aa")]).encode())
    assert [(word.start_s, word.end_s) for word in narration.words] == [(10, 12), (12, 17), (17, 20)]


def test_long_files_and_hours_above_99() -> None:
    narration = parse_narration(Path("v.srt"), b"1\n123:59:59,5 --> 124:00:01,000\nlate\n")
    assert narration.words[0] == Word("late", 123 * 3600 + 59 * 60 + 59.5, 124 * 3600 + 1)


def test_markup_entities_empty_cues_and_sound_descriptions() -> None:
    text = as_vtt(
        [(0, 1, "<v Ann><b>whisk</b> &lt;eggs&gt;"), (1, 2, ""), (2, 3, "[Music]"), (3, 4, "a < b"), (4, 5, "&gt;&gt; yes ♪")]
    )
    assert texts(parse_narration(Path("v.vtt"), text.encode())) == ["whisk", "<eggs>", "a", "<", "b", "yes"]


def test_notes_styles_regions_and_identifiers_are_not_spoken() -> None:
    text = "WEBVTT - title\n\nSTYLE\n::cue {}\n\nNOTE a\nb\n\nREGION\nid:x\n\nintro\n00:01.000 --> 00:02.000 line:0\nhello\n"
    assert texts(parse_narration(Path("v.vtt"), text.encode())) == ["hello"]


def test_empty_lines_inside_srt_text_are_kept_with_their_cue() -> None:
    text = "1\n00:00:00,000 --> 00:00:02,000\none\n\ntwo\n\n2\n00:00:02,000 --> 00:00:03,000\n7\n"
    assert texts(parse_narration(Path("v.srt"), text.encode())) == ["one", "two", "7"]


def test_recogniser_json_with_word_times_and_columns() -> None:
    whisper = {
        "language": "en",
        "segments": [
            {
                "start": 0,
                "end": 3,
                "text": "hi you",
                "words": [{"word": " hi", "start": 0.5, "end": 1}, {"word": " you", "start": 2, "end": 2.5}],
            }
        ],
    }
    narration = parse_narration(Path("v.json"), json.dumps(whisper).encode())
    assert narration.words == (Word("hi", 0.5, 1), Word("you", 2, 2.5))
    assert narration.language == "en"
    columns = {"start": [0, 2], "end": [2, 3], "text": ["hi", "you"]}
    assert texts(parse_narration(Path("v.json"), json.dumps(columns).encode())) == ["hi", "you"]


def test_json3_word_offsets() -> None:
    event = {"tStartMs": 1000, "dDurationMs": 4000, "segs": [{"utf8": "pour"}, {"utf8": " milk", "tOffsetMs": 2500}]}
    text = json.dumps({"events": [event, {"tStartMs": 3000, "aAppend": 1, "segs": [{"utf8": "\n"}]}]})
    assert [(w.text, w.start_s) for w in parse_narration(Path("v.json3"), text.encode()).words] == [("pour", 1), ("milk", 3.5)]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("v.vtt", b"", r"v\.vtt, line 1: the file is empty"),
        ("v.vtt", b"1\n00:00.000 --> 00:01.000\nhi", r"v\.vtt, line 1: found '1'; expected 'WEBVTT'"),
        ("v.vtt", b"WEBVTT\n\n00:00.000 --> 00:01.000\nhi\n\nlost words\n", r"line 6: 'lost words' belongs to no cue"),
        ("v.vtt", b"WEBVTT\n\n00:05.000 --> 00:01.000\nhi\n", r"line 3: cue ends at 1 s, before it starts at 5 s"),
        ("v.vtt", b"WEBVTT\n\n00:05 --> 00:06\nhi\n", r"line 3: '00:05 --> 00:06' is not a timing line"),
        ("v.vtt", b"WEBVTT\n\n00:00:75.000 --> 00:01:76.000\nhi\n", r"line 3: .* is not a timing line"),
        ("v.vtt", b"WEBVTT\n00:00.000 --> 00:01.000\nhi\n", r"line 2: a cue directly under 'WEBVTT'"),
        (
            "v.srt",
            b"1\n00:00:00,000 --> 00:00:01,000\nhi\n\n2\n00:00:01,000 -> 00:00:02,000\nyou\n",
            r"line 6: .* is not a timing line",
        ),
        (
            "v.srt",
            b"1\n00:00:00,000 --> 00:00:01,000\nhi\n\n2\n",
            r"line 5: cue number 2 without times; the file seems to be cut off",
        ),
        ("v.srt", b"<html>404</html>", r"line 1: found '<html>404</html>'; expected cue number 1"),
        ("v.srt", b"1\n", r"line 1: cue number without times"),
        ("v.vtt", b"WEBVTT\n\n00:00.000 --> 00:01.000\nh\xe9\n", r"line 4: byte 0xe9 is not UTF-8; save the file as UTF-8"),
        ("v.srt", b"1\n\0\n", r"line 2: a zero byte"),
        ("v.json", b'[{"start": 0,\n "end": 1', r"line 2: not valid JSON"),
        (
            "v.json",
            b'[{"start": 0, "end": 1, "text": "a"}, {"start": "x", "end": 1, "text": "b"}]',
            r"v\.json, cue 2: 'start' is 'x', not a number",
        ),
        ("v.json", b'[{"start": 3, "end": 1, "text": "a"}]', r"cue 1: ends at 1 s, before it starts"),
        ("v.json", b'[{"start": NaN, "end": 1, "text": "a"}]', r"cue 1: 'start' is 'nan'"),
        ("v.json", b'{"hello": 1}', r"line 1: JSON without cues"),
        ("v.json3", b'{"events": [{"segs": [{"utf8": "a"}]}]}', r"event 1: 'tStartMs' is 'None'"),
        ("v.json", b"[" * 100_000, r"v\.json, line 1"),
    ],
)
def test_invalid_files_are_rejected_with_their_line(name: str, data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_narration(Path(name), data)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_narration(tmp_path / "none.vtt")


def test_language_is_taken_from_the_file_name(tmp_path: Path) -> None:
    (tmp_path / "v.de.srt").write_text(as_srt([(0, 1, "ja")]))
    assert read_narration(tmp_path / "v.de.srt").language == "de"


@pytest.mark.slow
def test_hostile_files_are_read_quickly() -> None:
    start = time.process_time()
    parse_narration(Path("v.srt"), as_srt([(i, i + 1, "a\n" * 40) for i in range(2000)]).encode())
    parse_narration(Path("v.vtt"), as_vtt([(0, 9, "<" * 20_000), (1, 9, "<a " * 20_000), (2, 9, "[" * 20_000)]).encode())
    parse_narration(Path("v.vtt"), as_vtt([(0, 9, "a\n" * 20_000 + "b"), (1, 9, "a\n" * 20_000)]).encode())
    assert time.process_time() - start < 20


def test_real_recogniser_output_is_read(real_data: Path) -> None:
    files = sorted((real_data / "crosstask" / "crosstask_subtitles").glob("*.vtt"))
    narrations = [read_narration(file) for file in files]
    assert len(narrations) == 402
    assert 240_000 < sum(len(narration.words) for narration in narrations) < 260_000


def test_extensions_are_case_insensitive(tmp_path):
    for name in ("a.SRT", "b.en.VTT", "b.json3", "c.txt"):
        (tmp_path / name).touch()
    assert {video: path.name for video, path in files_by_video(tmp_path).items()} == {
        "a": "a.SRT",
        "b": "b.en.VTT",
        "b.en": "b.en.VTT",
    }
    assert list(SubtitleFolders((tmp_path / "nowhere", tmp_path))) == ["a", "b", "b.en"]


@pytest.mark.parametrize("number", ["9" * 400, "-1", "NaN", "1e999", "true"])
def test_times_beyond_any_video_are_rejected(tmp_path, number):
    path = tmp_path / "a.json3"
    path.write_text('{"events": [{"tStartMs": 0, "dDurationMs": 9, "segs": [{"utf8": "milk", "tOffsetMs": ' + number + "}]}]}")
    with pytest.raises(InputError, match="tOffsetMs"):
        read_narration(path)


# Each of these took hours in quadratic time.
LONG = {
    "a.srt": "1:" * 1_000_000,
    "b.srt": "1\n00:00:01,000 --> 00:00:02,000\n" + "1:" * 1_000_000,
    "a.json": json.dumps([{"start": 0, "end": 9e5, "words": [{"word": "w", "start": i, "end": i + 1} for i in range(400_000)]}]),
    "b.json": json.dumps([{"start": i, "end": i + 1, "text": "a\n" * 150_000 + "b\n" + "a\n" * 150_000} for i in range(2)]),
}


@pytest.mark.parametrize("name", LONG)
def test_long_lines_and_cues_are_read_in_linear_time(tmp_path, name):
    (tmp_path / name).write_text(LONG[name])
    with no_hang(), suppress(InputError):
        read_narration(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.srt", "1\n00:00:01,000 --> 999999:00:00,000\nstir\n"),
        ("a.vtt", "WEBVTT\n\n00:00:01.000 --> 999999:00:00.000\nstir\n"),
        ("a.json", '[{"start": 1, "end": 3600000000, "text": "stir"}]'),
        ("a.json3", '{"events": [{"tStartMs": 0, "dDurationMs": 9999999999, "segs": [{"utf8": "stir"}]}]}'),
    ],
)
def test_a_cue_later_than_any_video_is_an_error(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="later than any video"):
        read_narration(tmp_path / name)


def test_subtitles_of_a_video_whose_name_goes_on_after_a_dot_are_not_those_of_another(tmp_path: Path) -> None:
    for name in ("coffee.encore.vtt", "tea.en-GB.vtt", "milk.English.srt", "egg.en_US.json3"):
        (tmp_path / name).write_bytes(b"")
    found = files_by_video(tmp_path)
    assert set(found) - {"coffee.encore", "tea.en-GB", "milk.English", "egg.en_US"} == {"tea", "milk", "egg"}


def test_subtitles_of_a_video_with_their_whole_name_are_of_no_other(tmp_path: Path) -> None:
    (tmp_path / "talk.de.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\npour milk\n")
    beside = {tmp_path / "talk": "talk", tmp_path / "talk.de": "talk.de"}
    assert list(SubtitleFolders((tmp_path,), beside)) == ["talk.de"]
    assert list(SubtitleFolders((tmp_path,), {tmp_path / "talk": "talk"})) == ["talk", "talk.de"]
    for name in ("talk.mp4", "talk.de.mp4"):
        (tmp_path / name).write_bytes(b"")
    assert subtitles_beside(tmp_path / "talk.mp4") is None
    assert subtitles_beside(tmp_path / "talk.de.mp4") == tmp_path / "talk.de.vtt"


def test_of_several_languages_the_plain_name_goes_first_then_english_then_any(tmp_path: Path) -> None:
    expected = {
        "both": "both.vtt",
        "two": "two.en.vtt",
        "german": "german.de.vtt",
        "brazil": "brazil.pt-BR.json3",
        "many": "many.de.vtt",
    }
    for name in (*expected.values(), "both.de.vtt", "both.en.vtt", "two.de.vtt", "many.fr.vtt", "tea.raw.vtt"):
        (tmp_path / name).write_bytes(b"")
    found = files_by_video(tmp_path)
    assert {video: found[video].name for video in found if "." not in video} == expected


def test_a_video_named_like_a_language_says_nothing_of_the_language(tmp_path: Path) -> None:
    (tmp_path / "clip.it.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nwe pour the milk\n", "utf-8")
    beside = SubtitleFolders((tmp_path,), {tmp_path / "clip.it": "tea-clip.it"})
    assert beside["tea-clip.it"].language is None
    assert SubtitleFolders((tmp_path,), {tmp_path / "clip": "clip"})["clip"].language == "it"
    (tmp_path / "clip.it.mp4").write_bytes(b"")
    assert narration_beside(tmp_path / "clip.it.mp4").language is None
