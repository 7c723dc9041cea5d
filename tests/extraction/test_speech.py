import hashlib
import os
import subprocess
import sys
from fractions import Fraction

import av
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from crosstask.datasets.subtitles import read_narration
from crosstask.extraction import speech
from crosstask.extraction.second import SAMPLE_RATE
from crosstask.extraction.speech import audio_chunks, can_transcribe, embedded_subtitles, packaged_whisper, transcribe
from crosstask.pipeline.transcribe import transcribe_videos
from crosstask.records import InputError, Narration
from crosstask.synthetic.films.film import can_speak, speak
from crosstask.synthetic.films.scripts import Line
from extraction.media import write_video


def with_subtitles(path, srt, begins_s=0):
    """A video with the cues of an .srt file as an embedded subtitle stream; its clock begins at `begins_s`."""
    source = path.with_suffix(".srt")
    source.write_text(srt)
    with av.open(str(source)) as messages, av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=4)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
        subtitles = container.add_stream_from_template(messages.streams.subtitles[0])
        for i in range(40):
            frame = av.VideoFrame.from_ndarray(np.full((32, 32, 3), i, np.uint8), "rgb24")
            frame.pts, frame.time_base = i + 4 * begins_s, Fraction(1, 4)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
        for packet in messages.demux():
            if packet.pts is not None:
                packet.pts = packet.dts = packet.pts + round(begins_s / packet.time_base)
                packet.stream = subtitles
                container.mux(packet)
    source.unlink()
    return path


def test_embedded_subtitles_are_used(tmp_path):
    path = with_subtitles(
        tmp_path / "a.mkv", "1\n00:00:01,000 --> 00:00:03,000\npour the milk\n\n2\n00:00:04,000 --> 00:00:06,000\nthen, stir\n"
    )
    assert embedded_subtitles(path) == [(1.0, 3.0, "pour the milk"), (4.0, 6.0, "then, stir")]
    report = transcribe_videos({"a": path}, tmp_path / "subtitles")
    assert report.embedded == ["a"]
    narration = read_narration(tmp_path / "subtitles" / "a.vtt")
    assert [word.text for word in narration.words] == ["pour", "the", "milk", "then,", "stir"]
    assert transcribe_videos({"a": path}, tmp_path / "subtitles").reused == ["a"]
    assert embedded_subtitles(write_video(tmp_path / "b.mp4")) == []


def test_embedded_subtitles_count_from_the_start_of_the_video_as_in_a_player(tmp_path):
    """Pieces that are cut from longer recordings may keep the clock of these."""
    path = with_subtitles(tmp_path / "a.mkv", "1\n00:00:01,000 --> 00:00:03,000\npour the milk\n", begins_s=8)
    with av.open(str(path)) as container:
        assert container.start_time == 8_000_000
    assert embedded_subtitles(path) == [(1.0, 3.0, "pour the milk")]


def test_long_audio_is_cut_where_it_is_quiet():
    loud, quiet = np.ones(SAMPLE_RATE, np.float32), np.zeros(SAMPLE_RATE, np.float32)
    seconds = [quiet if i in (293, 580) else loud for i in range(700)]
    pieces = list(audio_chunks(iter(seconds)))
    assert sum(len(sound) for _, sound in pieces) == 700 * SAMPLE_RATE
    assert 293 <= pieces[1][0] < 294 and 580 <= pieces[2][0] < 581
    assert [start for start, _ in audio_chunks(iter(seconds[:10]))] == [0.0]


def test_invalid_files_are_skipped(tmp_path):
    (tmp_path / "a.mp4").write_bytes(b"nothing")
    report = transcribe_videos({"a": tmp_path / "a.mp4", "b": tmp_path / "gone.mp4"}, tmp_path / "subtitles")
    assert set(report.skipped) == {"a", "b"} and not (tmp_path / "subtitles").exists()


def test_folder_without_a_model_is_rejected(tmp_path):
    pytest.importorskip("faster_whisper", reason="extra speech is not installed")
    with pytest.raises(InputError, match=r"no model\.bin"):
        transcribe(write_video(tmp_path / "a.mp4"), tmp_path)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"model.bin": b"x"}, r"no tokenizer\.json"),  # faster-whisper would download one
        ({"model.bin": b"x", "tokenizer.json": b"{"}, "cannot be loaded"),
    ],
)
def test_a_speech_model_at_fault_ends_the_command_instead_of_skipping_videos(tmp_path, files, message):
    pytest.importorskip("faster_whisper", reason="extra speech is not installed")
    (tmp_path / "model").mkdir()
    for name, data in files.items():
        (tmp_path / "model" / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        transcribe_videos({"a": write_video(tmp_path / "a.mp4")}, tmp_path / "subtitles", tmp_path / "model")


@pytest.mark.parametrize("name", ["model.bin", "tokenizer.json"])
def test_a_speech_model_whose_files_are_no_regular_files_is_refused(tmp_path, name):
    """A dangling link for a tokenizer would be looked for on the network, and a folder for the weights would be blamed on the videos."""
    for other in ("model.bin", "tokenizer.json"):
        (tmp_path / other).write_bytes(b"x")
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("gone")
    with pytest.raises(InputError, match=f"{name} is not a regular file; expected a faster-whisper"):
        speech.refuse_incomplete_model(tmp_path)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=f"{name} is not a regular file"):
        speech.refuse_incomplete_model(tmp_path)


def test_recognising_speech_reports_its_use_to_nobody(tmp_path):
    """ONNX Runtime keeps events in the user's cache and sends them, unless it is told not to before it is loaded."""
    pytest.importorskip("faster_whisper", reason="extra speech is not installed")
    (tmp_path / "model").mkdir()
    for name in ("model.bin", "tokenizer.json"):
        (tmp_path / "model" / name).write_bytes(b"x")
    code = (
        "import sys\nfrom crosstask.extraction import speech\n"
        "try:\n    speech._whisper(sys.argv[1])\nexcept speech.SpeechModelError:\n    import onnxruntime\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, tmp_path / "model"], env=environment, check=True)
    assert [path for path in tmp_path.rglob("*") if "onnx" in path.name] == []


class FailingWhisper:
    def transcribe(self, audio, **options):
        raise self.error


@pytest.mark.parametrize("error", [ValueError("a token was not found"), RuntimeError("shape"), KeyError("token")])
def test_an_error_of_the_speech_model_while_it_works_names_the_model(tmp_path, monkeypatch, error):
    monkeypatch.setattr(FailingWhisper, "error", error, raising=False)
    monkeypatch.setattr(speech, "_whisper", lambda folder: FailingWhisper())
    (tmp_path / "model").mkdir()
    for name in ("model.bin", "tokenizer.json"):
        (tmp_path / "model" / name).write_bytes(b"x")
    with pytest.raises(speech.SpeechModelError, match="model: does not recognise speech"):
        transcribe(write_video(tmp_path / "a.mp4"), tmp_path / "model")


class CountingWhisper:
    """Notes how many threads matrix products have while speech is recognised, which goes on until the lines are read."""

    def transcribe(self, audio, **options):
        self.threads = [pool["num_threads"] for pool in threadpool_info()]
        return self.lines(), None

    def lines(self):
        self.threads += [pool["num_threads"] for pool in threadpool_info()]
        yield from ()


def test_the_spectrogram_of_speech_is_computed_with_one_thread(tmp_path, monkeypatch):
    """It is a matrix product, which is rounded differently for other numbers of threads; Whisper then hears other words."""
    whisper = CountingWhisper()
    monkeypatch.setattr(speech, "_whisper", lambda folder: whisper)
    with threadpool_limits(limits=2):
        transcribe(write_video(tmp_path / "a.mp4"), tmp_path)
    assert len(whisper.threads) >= 2 and set(whisper.threads) == {1}


def test_another_speech_model_transcribes_again_and_the_same_one_does_not(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr("crosstask.pipeline.transcribe.can_transcribe", lambda model: True)
    monkeypatch.setattr(
        "crosstask.pipeline.transcribe.transcribe", lambda path, model, language: calls.append(model) or Narration(())
    )
    for name in ("small", "large"):
        (tmp_path / name).mkdir()
        for file in ("model.bin", "tokenizer.json"):
            (tmp_path / name / file).write_bytes(name.encode())
    videos = {"a": write_video(tmp_path / "a.mp4")}
    for model in (None, tmp_path / "small", tmp_path / "small", tmp_path / "large", None):
        transcribe_videos(videos, tmp_path / "subtitles", model)
    assert calls == [None, tmp_path / "small", tmp_path / "large", None]


def test_damaged_files_of_the_packaged_model_are_replaced(tmp_path, monkeypatch):
    parts = (tmp_path / "part1", tmp_path / "part2")
    for part in parts:
        part.mkdir()
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        (parts[0] / name).write_bytes(name.encode())
    (parts[0] / "model.bin.part1").write_bytes(b"first")
    (parts[1] / "model.bin.part2").write_bytes(b"second")
    monkeypatch.setattr(speech, "SHA256", hashlib.sha256(b"firstsecond").hexdigest())
    join = speech._joined.__wrapped__
    folder = join(parts, tmp_path / "cache")
    for name, data in (("model.bin", b"firstsecond"), ("tokenizer.json", b"tokenizer.json")):
        (folder / name).write_bytes(b"damaged")
        assert (join(parts, tmp_path / "cache") / name).read_bytes() == data


@pytest.mark.slow
@pytest.mark.skipif(not can_transcribe(), reason="extra speech or its packaged weights are not installed")
@pytest.mark.skipif(not can_speak(), reason="espeak-ng is not installed")
def test_speech_is_recognised_with_word_times(tmp_path):
    assert (packaged_whisper() / "model.bin").stat().st_size == 145_217_532
    line = Line(0, 4, "now pour the milk into the bowl and stir the eggs")
    voice = speak(line)
    silence = np.zeros(3 * SAMPLE_RATE, np.float32)
    wave = np.concatenate([silence, voice, silence])
    path = tmp_path / "a.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=4)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
        sound = container.add_stream("aac", rate=SAMPLE_RATE, layout="mono")
        for i in range(4 * len(wave) // SAMPLE_RATE):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.full((32, 32, 3), i, np.uint8), "rgb24")))
        container.mux(stream.encode())
        for start in range(0, len(wave), 1024):
            piece = av.AudioFrame.from_ndarray(wave[None, start : start + 1024], "fltp", "mono")
            piece.sample_rate, piece.pts = SAMPLE_RATE, start
            container.mux(sound.encode(piece))
        container.mux(sound.encode())
    found = transcribe_videos({"a": path}, tmp_path / "subtitles")
    assert found.recognised == ["a"], found
    narration = read_narration(tmp_path / "subtitles" / "a.vtt")
    texts = [word.text.strip(".,").lower() for word in narration.words]
    assert {"pour", "milk", "stir"} <= set(texts)
    assert 2.5 < narration.words[0].start_s < 4 and narration.words[-1].end_s < 3.5 + len(voice) / SAMPLE_RATE
    assert all(a.start_s <= b.start_s for a, b in zip(narration.words, narration.words[1:], strict=False))
