from crosstask.narration.units import cue_windows, word_windows
from crosstask.records import Narration
from narration.speech import speak


def test_word_windows_and_cue_windows_by_hand() -> None:
    said = speak(["a b", "c", "d e"])
    assert word_windows(said, 4).texts == ("a b c", "a b c d", "b c d e", "c d e", "d e")
    assert cue_windows(said, 1).texts == ("a b c", "a b c d e", "c d e")
    assert cue_windows(said, 0).texts == ("a b", "c", "d e")
    assert cue_windows(Narration(said.words), 0).texts == ("a b c d e",)
