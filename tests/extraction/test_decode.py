import tracemalloc
from itertools import islice

import numpy as np
import pytest

from crosstask.extraction.containers import probe
from crosstask.extraction.decode import decode_seconds
from crosstask.extraction.second import Sampling
from crosstask.records import InputError
from extraction.media import write_video

ONE = Sampling(32, 1)
TWO = Sampling(16, 4)
ALL = Sampling(32, None)


def brightness(seconds, sampling=ONE):
    return [float(s.pictures[sampling].mean()) for s in seconds]


def test_each_second_has_its_own_pictures_and_sound(tmp_path):
    seconds = list(decode_seconds(write_video(tmp_path / "a.mp4"), [ONE, TWO, ALL]))
    assert len(seconds) == 3
    np.testing.assert_allclose(brightness(seconds), [20, 50, 80], atol=4)
    assert seconds[0].pictures[TWO].shape == (4, 16, 16, 3) and seconds[0].pictures[ALL].shape == (8, 32, 32, 3)
    for number, second in enumerate(seconds):
        assert second.sound.shape == (16000,)
        assert abs(int(np.abs(np.fft.rfft(second.sound)).argmax()) - (300 + 200 * number)) <= 2


@pytest.mark.parametrize("name", ["a.mkv", "a.mov", "a.webm.mkv", "a.avi", "odd name, déjà -.mp4", "wrong-extension.avi.mov"])
def test_any_container(tmp_path, name):
    assert len(list(decode_seconds(write_video(tmp_path / name), [ONE]))) == 3


def test_a_part_of_a_second_counts(tmp_path):
    assert len(list(decode_seconds(write_video(tmp_path / "a.mp4", seconds=2.25), [ONE]))) == 3
    assert len(list(decode_seconds(write_video(tmp_path / "b.mp4", seconds=2), [ONE]))) == 2


def test_variable_rate_shows_what_a_player_shows(tmp_path):
    path = write_video(tmp_path / "a.mp4", times=[0, 0.1, 0.9, 3.2, 3.4, 3.45], sound=False)
    seconds = list(decode_seconds(path, [ONE, ALL]))
    np.testing.assert_allclose(brightness(seconds), [20, 20, 20, 110], atol=4)
    assert [len(s.pictures[ALL]) for s in seconds] == [3, 1, 1, 3]
    assert not any(s.sound.any() for s in seconds)


def test_rotated_video_stands_upright(tmp_path):
    def left_bright(time):
        picture = np.zeros((48, 64, 3), np.uint8)
        picture[:, :32] = 200
        return picture

    plain = next(decode_seconds(write_video(tmp_path / "a.mp4", draw=left_bright), [ONE])).pictures[ONE][0]
    turned = next(decode_seconds(write_video(tmp_path / "b.mp4", draw=left_bright, rotation=90), [ONE])).pictures[ONE][0]
    assert plain[:, :8].mean() > 150 > 50 > plain[:, -8:].mean()
    assert turned[-8:].mean() > 150 > 50 > turned[:8].mean(), "counter-clockwise, as a player shows it"


def test_every_other_frame(tmp_path):
    half = Sampling(32, None, 2)
    assert [len(s.pictures[half]) for s in decode_seconds(write_video(tmp_path / "a.mp4"), [half])] == [4, 4, 4]


def test_a_damaged_tail_gives_what_was_decoded(tmp_path, caplog):
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


def nasty(tmp_path):
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


def test_bad_files_are_refused_by_name(tmp_path):
    said = {}
    for name in nasty(tmp_path):
        with pytest.raises(InputError) as refusal:
            list(decode_seconds(tmp_path / name, [ONE]))
        said[name] = str(refusal.value)
        assert said[name].startswith(name), said[name]
    assert "0 bytes" in said["zero.mp4"] and "no moving pictures" in said["sound.mp4"]
    assert "a still" in said["still.mp4"] and "clock is broken" in said["sparse.mp4"] and "cannot be read" in said["gone.mp4"]
    assert "can be decoded" in said["playlist.mp4"] and "can be decoded" in said["concat.mp4"]


def test_damage_anywhere_never_escapes(tmp_path):
    """Whatever bytes are hit, the answer is seconds or a refusal by name."""
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
                assert second.pictures[ONE].shape == (1, 32, 32, 3) and np.isfinite(second.sound).all()
        except InputError as refusal:
            assert str(refusal).startswith(path.name)


def test_memory_does_not_grow_with_length(tmp_path):
    """Seconds are handed out while the file is still being read, and let go: longer videos need no more."""
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


def test_what_a_file_announces(tmp_path):
    found = probe(write_video(tmp_path / "a.mp4"))
    assert (found.width, found.height, found.has_sound, found.n_subtitles) == (64, 48, True, 0)
    assert found.seconds == pytest.approx(3, abs=0.2) and found.frames_per_second == pytest.approx(8, abs=0.5)
