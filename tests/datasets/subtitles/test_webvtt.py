from crosstask.datasets.subtitles import read_narration
from crosstask.datasets.subtitles.webvtt import write_webvtt
from crosstask.records import Cue, Narration, Word


def test_webvtt_round_trip(tmp_path):
    words = (Word("pour", 1.0, 1.4), Word("<milk>", 1.4, 2.0), Word("R&B", 65.25, 66.0))
    narration = Narration(words, (Cue(0, 2, 1.0, 2.0), Cue(2, 3, 65.25, 66.0)), "en")
    found = read_narration(write_webvtt(tmp_path / "a.vtt", narration, "a note"))
    assert [w.text for w in found.words] == ["pour", "<milk>", "R&B"]
    assert [(w.start_s, w.end_s) for w in found.words] == [(1.0, 1.4), (1.4, 2.0), (65.25, 66.0)]
    assert found.cues == narration.cues and found.language == "en"
    assert read_narration(write_webvtt(tmp_path / "empty.vtt", Narration(()))).words == ()
