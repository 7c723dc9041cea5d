"""Subtitles made from a video are used as long as its file, the language and the speech model are the same."""

import pytest

from crosstask.datasets.subtitle_folders import SubtitleFolders
from crosstask.datasets.subtitles.webvtt import write_webvtt
from crosstask.pipeline import transcribe
from crosstask.pipeline.transcribe import recognised_in, remove_outdated, transcribe_videos
from crosstask.records import Narration, Word


@pytest.fixture
def heard(monkeypatch):
    """The languages and models with which speech was recognised."""
    calls = []

    def recognise(path, model, language):
        calls.append((language, model))
        return Narration((Word("hello", 1.0, 2.0),))

    monkeypatch.setattr(transcribe, "embedded_subtitles", lambda path: [])
    monkeypatch.setattr(transcribe, "can_transcribe", lambda model: True)
    monkeypatch.setattr(transcribe, "transcribe", recognise)
    return calls


def test_another_language_or_speech_model_is_heard_again(heard, tmp_path):
    film, model = tmp_path / "film.mp4", tmp_path / "model"
    film.write_bytes(b"a film")
    model.mkdir()
    (model / "model.bin").write_bytes(b"large")
    (model / "tokenizer.json").write_text("{}")
    for language, chosen in ((None, None), ("de", None), (None, None), (None, model)):
        for reused in ([], ["film"]):
            report = transcribe_videos({"film": film}, tmp_path / "ours", chosen, language=language)
            assert report.reused == reused
    (model / "model.bin").write_bytes(b"larger")
    transcribe_videos({"film": film}, tmp_path / "ours", model)
    assert heard == [(None, None), ("de", None), (None, None), (None, model), (None, model)]


def test_subtitles_that_were_not_made_from_the_video_are_kept(heard, tmp_path):
    """As `corpus convert` writes them: people wrote them, and recognition would be worse."""
    film, ours = tmp_path / "film.mp4", tmp_path / "ours"
    film.write_bytes(b"a film")
    write_webvtt(ours / "film.vtt", Narration((Word("written", 1.0, 2.0),)))
    before = (ours / "film.vtt").read_bytes()
    for language in (None, "de"):
        assert transcribe_videos({"film": film}, ours, language=language).reused == ["film"]
    assert heard == [] and (ours / "film.vtt").read_bytes() == before


def test_subtitles_of_a_replaced_video_are_removed(heard, tmp_path):
    films = {name: tmp_path / f"{name}.mp4" for name in ("same", "replaced", "unreadable", "by hand")}
    for film in films.values():
        film.write_bytes(b"a film")
    ours = tmp_path / "ours"
    transcribe_videos({name: film for name, film in films.items() if name != "by hand"}, ours, language="de")
    (ours / "by hand.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nhello\n")
    films["replaced"].write_bytes(b"another film")
    films["unreadable"].unlink()
    remove_outdated(films, ours)
    assert sorted(path.stem for path in ours.glob("*.vtt")) == ["by hand", "same", "unreadable"]


def test_without_recognition_the_subtitles_inside_a_video_are_used_and_what_was_recognised_is_not(heard, monkeypatch, tmp_path):
    films, ours = {name: tmp_path / f"{name}.mp4" for name in ("inside", "silent", "heard")}, tmp_path / "ours"
    for name, film in films.items():
        film.write_bytes(name.encode())
    transcribe_videos({"heard": films["heard"]}, ours)
    (ours / "by hand.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nhello\n")
    said = {films["inside"]: [(1.0, 2.0, "pour milk")]}
    monkeypatch.setattr(transcribe, "embedded_subtitles", lambda path: said.get(path, []))
    report = transcribe_videos(films, ours, recognise=False)
    assert (report.embedded, report.recognised, report.silent, len(heard)) == (["inside"], [], [], 1)
    assert recognised_in(ours) == {ours / "heard.vtt"}
    assert sorted(SubtitleFolders((ours,), left_out=recognised_in(ours))) == ["by hand", "inside"]
