import errno
import io
import os
import struct
import tracemalloc
from itertools import islice

import numpy as np
import pytest

from crosstask.extraction import containers
from crosstask.extraction.containers import probe
from crosstask.extraction.decode import decode_seconds
from crosstask.extraction.second import Sampling
from crosstask.records import InputError
from extraction.media import write_video

ONE = Sampling(32, 1)
TWO = Sampling(16, 4)
ALL = Sampling(32, None)


def noise(time):
    """A picture that cannot be compressed, so that the frames are spread over the file."""
    return np.random.default_rng(int(1000 * time)).integers(0, 256, (48, 64, 3), np.uint8)


def brightness(seconds, sampling=ONE):
    return [float(s.frames[sampling].mean()) for s in seconds]


def test_each_second_has_its_own_frames_and_audio(tmp_path):
    seconds = list(decode_seconds(write_video(tmp_path / "a.mp4"), [ONE, TWO, ALL]))
    assert len(seconds) == 3
    np.testing.assert_allclose(brightness(seconds), [20, 50, 80], atol=4)
    assert seconds[0].frames[TWO].shape == (4, 16, 16, 3) and seconds[0].frames[ALL].shape == (8, 32, 32, 3)
    for number, second in enumerate(seconds):
        assert second.audio.shape == (16000,)
        assert abs(int(np.abs(np.fft.rfft(second.audio)).argmax()) - (300 + 200 * number)) <= 2


@pytest.mark.parametrize("name", ["a.mkv", "a.mov", "a.webm.mkv", "a.avi", "odd name, déjà -.mp4", "wrong-extension.avi.mov"])
def test_any_container(tmp_path, name):
    assert len(list(decode_seconds(write_video(tmp_path / name), [ONE]))) == 3


def test_a_disk_that_fails_in_the_middle_is_an_error_and_not_the_end_of_the_video(tmp_path, monkeypatch):
    """FFmpeg would go on with the seconds before."""
    path, opened = write_video(tmp_path / "a.mkv", seconds=60), containers.open_regular

    class FailingFile(io.BufferedReader):
        def read(self, size=-1, /):
            if self.tell() >= path.stat().st_size // 2:
                raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
            return super().read(min(size, 4096))

    monkeypatch.setattr(containers, "open_regular", lambda path: FailingFile(opened(path).detach()))
    with pytest.raises(OSError, match="Input/output error"):
        list(decode_seconds(path, [ONE]))


def test_partial_second_counts(tmp_path):
    assert len(list(decode_seconds(write_video(tmp_path / "a.mp4", seconds=2.25), [ONE]))) == 3
    assert len(list(decode_seconds(write_video(tmp_path / "b.mp4", seconds=2), [ONE]))) == 2


def test_variable_frame_rate_as_in_a_player(tmp_path):
    path = write_video(tmp_path / "a.mp4", times=[0, 0.1, 0.9, 3.2, 3.4, 3.45], sound=False)
    seconds = list(decode_seconds(path, [ONE, ALL]))
    np.testing.assert_allclose(brightness(seconds), [20, 20, 20, 110], atol=4)
    assert [len(s.frames[ALL]) for s in seconds] == [3, 1, 1, 3]
    assert not any(s.audio.any() for s in seconds)


@pytest.mark.parametrize("name", ["a.mkv", "a.mp4"])
def test_seconds_before_the_first_picture_show_it(tmp_path, name):
    """Sound may begin before the picture, as where a stream was cut between key frames."""
    path = write_video(tmp_path / name, seconds=4, times=[2 + i / 8 for i in range(16)])
    seconds = list(decode_seconds(path, [ONE, ALL, Sampling(32, None, 2)]))
    np.testing.assert_allclose(brightness(seconds), [80, 80, 80, 110], atol=4)
    assert [s.frames[ALL].shape[0] for s in seconds] == [1, 1, 8, 8]


def test_rotation_is_applied(tmp_path):
    def left_bright(time):
        image = np.zeros((48, 64, 3), np.uint8)
        image[:, :32] = 200
        return image

    plain = next(decode_seconds(write_video(tmp_path / "a.mp4", draw=left_bright), [ONE])).frames[ONE][0]
    turned = next(decode_seconds(write_video(tmp_path / "b.mp4", draw=left_bright, rotation=90), [ONE])).frames[ONE][0]
    assert plain[:, :8].mean() > 150 > 50 > plain[:, -8:].mean()
    assert turned[-8:].mean() > 150 > 50 > turned[:8].mean(), "rotated counter-clockwise, as in a player"


def test_every_other_frame(tmp_path):
    half = Sampling(32, None, 2)
    assert [len(s.frames[half]) for s in decode_seconds(write_video(tmp_path / "a.mp4"), [half])] == [4, 4, 4]


def test_damaged_end_keeps_what_was_decoded(tmp_path, caplog):
    path = write_video(tmp_path / "a.mp4", seconds=8, options={"movflags": "faststart"})
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    seconds = list(decode_seconds(path, [ONE]))
    assert 1 <= len(seconds) < 8
    assert "damaged" in caplog.text or "the rest is missing" in caplog.text
    whole = write_video(tmp_path / "b.mkv", seconds=8)
    broken = bytearray(whole.read_bytes())
    broken[len(broken) // 2 :] = bytes(len(broken) - len(broken) // 2)
    whole.write_bytes(broken)
    assert 1 <= len(list(decode_seconds(whole, [ONE]))) < 8


def test_a_file_cut_short_is_reported_where_only_the_container_has_a_duration(tmp_path, caplog):
    path = write_video(tmp_path / "a.mkv", seconds=12, draw=noise)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert len(list(decode_seconds(path, [ONE]))) < 12
    assert "a.mkv: frames end at" in caplog.text and "the rest is missing" in caplog.text


@pytest.mark.parametrize("ending", ["mkv", "mp4"])
def test_the_duration_of_a_file_whose_clock_does_not_begin_at_0(tmp_path, caplog, ending):
    path = write_video(tmp_path / f"a.{ending}", times=[50 + i / 8 for i in range(96)], sound=False)
    assert probe(path).duration_s == pytest.approx(12, abs=0.2)
    assert len(list(decode_seconds(path, [ONE]))) == 12 and "missing" not in caplog.text


def test_a_duration_that_no_video_has_is_not_taken_from_the_header(tmp_path):
    path = write_video(tmp_path / "a.mkv")
    data = path.read_bytes()
    place = data.index(b"\x44\x89\x88") + 3  # the element Duration, a double
    assert probe(path).duration_s > 2
    path.write_bytes(data[:place] + struct.pack(">d", 1e13) + data[place + 8 :])
    assert probe(path).duration_s == 0


def write_invalid_videos(tmp_path):
    import av

    good = write_video(tmp_path / "good.mp4").read_bytes()
    files = {
        "zero.mp4": b"",
        "text.mp4": b"this is no video at all\n" * 50,
        "truncated.mp4": good[: len(good) // 2].replace(b"moov", b"free"),
        "playlist.mp4": b"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nhttp://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n",
        "concat.mp4": b"ffconcat version 1.0\nfile /etc/hostname\n",
        "page.mp4": b"<html><script>alert(1)</script></html>",
        "elf.mp4": b"\x7fELF" + bytes(range(256)) * 20,
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    write_video(tmp_path / "still.mp4", times=[0.0], sound=False)
    write_video(tmp_path / "sparse.mp4", times=[0.0, 0.5, 36000.0], sound=False)
    with av.open(str(tmp_path / "sound.mp4"), "w") as container:
        voice = container.add_stream("aac", rate=16000, layout="mono")
        piece = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), "fltp", "mono")
        piece.sample_rate, piece.pts = 16000, 0
        container.mux(voice.encode(piece))
        container.mux(voice.encode())
    return [*files, "still.mp4", "sparse.mp4", "sound.mp4", "gone.mp4"]


def test_invalid_files_are_rejected_by_name(tmp_path):
    messages = {}
    for name in write_invalid_videos(tmp_path):
        with pytest.raises(InputError) as error:
            list(decode_seconds(tmp_path / name, [ONE]))
        messages[name] = str(error.value)
        assert messages[name].startswith(name), messages[name]
    assert "0 bytes" in messages["zero.mp4"] and "no video stream" in messages["sound.mp4"]
    assert (
        "a still" in messages["still.mp4"]
        and "time stamps are invalid" in messages["sparse.mp4"]
        and "cannot be read" in messages["gone.mp4"]
    )
    assert "can be decoded" in messages["playlist.mp4"] and "can be decoded" in messages["concat.mp4"]


def test_random_damage_gives_seconds_or_an_input_error(tmp_path):
    """For any damaged bytes, the result is seconds or an InputError that names the file."""
    rng = np.random.default_rng(0)
    data = np.frombuffer(write_video(tmp_path / "a.mp4", seconds=2).read_bytes(), np.uint8)
    for number in range(40):
        broken = data.copy()
        hits = rng.integers(0, len(data), size=rng.integers(1, 60))
        broken[hits] = rng.integers(0, 256, size=len(hits))
        path = tmp_path / f"{number}.mp4"
        path.write_bytes(broken[: rng.integers(len(data) // 4, len(data) + 1)].tobytes())
        try:
            for second in islice(decode_seconds(path, [ONE]), 50):
                assert second.frames[ONE].shape == (1, 32, 32, 3) and np.isfinite(second.audio).all()
        except InputError as error:
            assert str(error).startswith(path.name)


def test_memory_does_not_grow_with_length(tmp_path):
    """Seconds are yielded while the file is read, so memory does not depend on the length."""
    stream = decode_seconds(write_video(tmp_path / "a.mp4", seconds=600, rate=2, sound=False), [Sampling(64, 2)])
    next(stream)
    tracemalloc.start()
    for _ in islice(stream, 50):
        pass
    after_50 = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    assert sum(1 for _ in stream) == 549
    assert tracemalloc.get_traced_memory()[1] < after_50 + 1_000_000
    tracemalloc.stop()


def test_probe_reads_the_header(tmp_path):
    found = probe(write_video(tmp_path / "a.mp4"))
    assert (found.width, found.height, found.has_audio, found.n_subtitles) == (64, 48, True, 0)
    assert found.duration_s == pytest.approx(3, abs=0.2) and found.frames_per_second == pytest.approx(8, abs=0.5)
