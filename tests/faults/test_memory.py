"""A corpus larger than the memory limit of the process can be packed, trained on and evaluated."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from faults.figures import record

pytestmark = pytest.mark.slow
CODE = """
import json, resource, sys
from pathlib import Path
import numpy as np
from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.features import write_rows
from crosstask.features.packed_corpus import with_packed_features
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.datasets import open_corpus, write_release
from tiny import tiny_corpus

quick = AlternationSettings(learning_rate=0.01, initial_epochs=1, epochs=1)

def write(folder, n_segments, n_dimensions):
    made = tiny_corpus(n_dimensions=4, n_segments=n_segments)
    write_release(made, folder)
    rng = np.random.default_rng(0)
    for video in made.videos:
        write_rows(folder / "crosstask_features" / f"{video.id}.npy", rng.standard_normal((n_segments, n_dimensions), np.float32).astype(np.float16))

def use(folder):
    corpus = with_packed_features(open_corpus(folder))
    scorer = Zhukov19("component", quick).fit(corpus, np.random.default_rng(0))
    return evaluate_videos(corpus, scorer, corpus.videos).to_json()["recall"]["mean"]

def status(name):
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))

here = Path(sys.argv[1])
write(here / "small", 30, 1024)
use(here / "small")  # load and compile
write(here / "large", 5000, 1024)
allowance_kb = int(sys.argv[2]) * 1024
before = status("VmData")
resource.setrlimit(resource.RLIMIT_DATA, ((before + allowance_kb) * 1024, resource.RLIM_INFINITY))
recall = use(here / "large")
corpus_bytes = sum(path.stat().st_size for path in (here / "large" / "crosstask_features").glob("*.npy"))
print(json.dumps({"corpus_mb": corpus_bytes / 2**20, "allowance_mb": int(sys.argv[2]), "recall": recall}))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_training_streams_features(tmp_path):
    path = os.pathsep.join([str(Path(__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path, "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run([sys.executable, "-c", CODE, str(tmp_path), "90"], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["corpus_mb"] > figures["allowance_mb"]
    record("memory", figures)
