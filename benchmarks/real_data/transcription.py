"""Transcription of real human speech: word error rate, and errors of word times against a forced alignment.

    pip download --no-deps --no-binary :all: pocketsphinx==5.1.1
    python -m benchmarks.real_data.transcription pocketsphinx-5.1.1.tar.gz --out results/transcription.json

The source archive of pocketsphinx holds five sentences of a LibriVox reading (public domain) with transcript and aligned words. Each is filmed
as an mp4 (a still picture, three seconds of silence before and after, AAC sound) and transcribed as `crosstask run` transcribes any video.
"""

import io
import json
import re
import tarfile
import tempfile
import wave
from pathlib import Path
from time import process_time

import av
import numpy as np
from benchmarks.scripts import arguments_of

from crosstask.datasets.subtitles import read_narration
from crosstask.pipeline.transcribe import transcribe_videos
from crosstask.storage import write_json

PLACE = "test/data/librivox/"
SILENCE_S, SAMPLE_RATE = 3, 16_000


def film(path, samples):
    silence = np.zeros(SILENCE_S * SAMPLE_RATE, np.float32)
    sound = np.concatenate([silence, samples, silence])
    with av.open(str(path), "w") as container:
        pictures = container.add_stream("libx264", rate=4)
        pictures.width, pictures.height, pictures.pix_fmt = 64, 48, "yuv420p"
        voice = container.add_stream("aac", rate=SAMPLE_RATE, layout="mono")
        for i in range(4 * len(sound) // SAMPLE_RATE):
            container.mux(pictures.encode(av.VideoFrame.from_ndarray(np.full((48, 64, 3), i, np.uint8), "rgb24")))
        container.mux(pictures.encode())
        for start in range(0, len(sound), 1024):
            piece = av.AudioFrame.from_ndarray(sound[None, start : start + 1024], "fltp", "mono")
            piece.sample_rate, piece.pts = SAMPLE_RATE, start
            container.mux(voice.encode(piece))
        container.mux(voice.encode())
    return path


def sentences(archive):
    """name -> samples, [(word, start)] as aligned."""
    with tarfile.open(archive) as packed:
        names = sorted(n for n in packed.getnames() if PLACE in n and n.endswith(".wav"))
        for name in names:
            with wave.open(io.BytesIO(packed.extractfile(name).read())) as file:
                assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (SAMPLE_RATE, 1, 2)
                samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
            aligned = json.loads(packed.extractfile(name.removesuffix(".wav") + ".json").read())["w"]
            words = [(plain(w["t"]), w["b"]) for w in aligned if plain(w["t"])]
            yield Path(name).stem, samples, words


def plain(word):
    """Letters alone: no silence marks, no numbers of pronunciations."""
    return "" if word.startswith(("<", "[")) else re.sub(r"[^a-z']", "", re.sub(r"\(\d+\)", "", word.lower()))


def alignment(heard, said):
    """Edit distance, and index pairs of words that agree."""
    cost = np.zeros((len(heard) + 1, len(said) + 1), int)
    cost[:, 0], cost[0] = range(len(heard) + 1), range(len(said) + 1)
    for i in range(1, len(heard) + 1):
        for j in range(1, len(said) + 1):
            swap = cost[i - 1, j - 1] + (heard[i - 1] != said[j - 1])
            cost[i, j] = min(swap, cost[i - 1, j] + 1, cost[i, j - 1] + 1)
    pairs, i, j = [], len(heard), len(said)
    while i and j:
        if heard[i - 1] == said[j - 1] and cost[i, j] == cost[i - 1, j - 1]:
            pairs.append((i - 1, j - 1))
            i, j = i - 1, j - 1
        elif cost[i, j] == cost[i - 1, j - 1] + 1:
            i, j = i - 1, j - 1
        elif cost[i, j] == cost[i - 1, j] + 1:
            i -= 1
        else:
            j -= 1
    return int(cost[-1, -1]), pairs


def main():
    parser = arguments_of(__doc__)
    parser.add_argument("archive", type=Path)
    arguments = parser.parse_args()
    found, errors, off = {}, [], []
    with tempfile.TemporaryDirectory() as place:
        for name, samples, words in sentences(arguments.archive):
            begun = process_time()
            heard = transcribe_videos({name: film(Path(place) / f"{name}.mp4", samples)}, Path(place) / "subtitles")
            assert heard.recognised == [name], heard
            narration = read_narration(Path(place) / "subtitles" / f"{name}.vtt")
            spoken = [(plain(w.text), w.start_s - SILENCE_S) for w in narration.words if plain(w.text)]
            wrong, pairs = alignment([w for w, _ in spoken], [w for w, _ in words])
            apart = [abs(spoken[i][1] - words[j][1]) for i, j in pairs]
            errors.append((wrong, len(words)))
            off += apart
            found[name] = {
                "seconds_of_speech": len(samples) / SAMPLE_RATE,
                "heard": " ".join(w.text for w in narration.words),
                "words_said": len(words),
                "word_errors": wrong,
                "median_start_error_s": float(np.median(apart)),
                "in_order": all(a.start_s <= b.start_s for a, b in zip(narration.words, narration.words[1:], strict=False)),
                "inside_the_speech": bool(
                    spoken[0][1] > -0.5 and narration.words[-1].end_s < SILENCE_S + len(samples) / SAMPLE_RATE + 0.5
                ),
                "cpu_s": process_time() - begun,
            }
    write_json(
        arguments.out,
        {
            "command": "python -m benchmarks.real_data.transcription pocketsphinx-5.1.1.tar.gz --out results/transcription.json",
            "seed": None,
            "speech": "real: LibriVox reading of Sense and Sensibility, from the source archive of pocketsphinx 5.1.1",
            "reference_times": "forced alignment in that archive, itself not checked by hand",
            "word_error_rate": sum(e for e, _ in errors) / sum(n for _, n in errors),
            "median_start_error_s": float(np.median(off)),
            "ninety_percent_within_s": float(np.quantile(off, 0.9)),
            "sentences": found,
        },
    )


if __name__ == "__main__":
    main()
