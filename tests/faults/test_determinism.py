"""Equal bytes with one and two threads, for any hash seed, with and without interruption, from packed and unpacked features."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from faults.figures import record

pytestmark = pytest.mark.slow
CODE = """
import hashlib, json, sys
from pathlib import Path
import numpy as np
from crosstask.features.packed_corpus import with_packed_features
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.zhukov19_checkpoint import Zhukov19Checkpoint
from crosstask.methods.hmm_checkpoint import HmmCheckpoint
from crosstask.model.file import save_model
from crosstask.model.model import Model
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.datasets import open_corpus, write_release
from crosstask.features import write_rows
from tiny import tiny_corpus

here = Path(sys.argv[1])
made = tiny_corpus(n_dimensions=384, n_segments=120, videos_per_task=6)
write_release(made, here / "c")
for video in made.videos:
    write_rows(here / "c" / "crosstask_features" / f"{video.id}.npy", made.features.rows(video.id).astype(np.float16))
loose = open_corpus(here / "c")
packed = with_packed_features(loose)
quick = AlternationSettings(learning_rate=0.01, dropout=0.3, initial_epochs=3, epochs=3)

def digest(name, method, corpus):
    path = save_model(Model(method.fit(corpus, np.random.default_rng(1)), corpus.tasks), here / name)
    return hashlib.sha256(path.read_bytes()).hexdigest()

class Enough(Exception):
    pass

def stop(progress):
    if progress.epochs_done == 4:
        raise Enough

try:
    Zhukov19("component", quick, stop, Zhukov19Checkpoint(here / "k", 0.0)).fit(packed, np.random.default_rng(1))
except Enough:
    pass
def stop_rounds(done):
    if done.iterations == 4:
        raise Enough

try:
    HiddenMarkovModel(after_epoch=stop_rounds, checkpoint=HmmCheckpoint(here / "r", 0.0)).fit(packed, np.random.default_rng(1))
except Enough:
    pass
assert (here / "r").exists()
found = {
    "paper, packed": digest("a", Zhukov19("component", quick), packed),
    "paper, loose": digest("b", Zhukov19("component", quick), loose),
    "paper, resumed": digest("c.m", Zhukov19("component", quick, checkpoint=Zhukov19Checkpoint(here / "k")), packed),
    "best, packed": digest("d", HiddenMarkovModel(), packed),
    "best, loose": digest("e", HiddenMarkovModel(), loose),
    "best, resumed": digest("f", HiddenMarkovModel(checkpoint=HmmCheckpoint(here / "r")), packed),
}
found["pack"] = "".join(hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted((here / "c" / ".crosstask" / "pack").glob("rows*")))
print(json.dumps(found))
"""


def digests(folder, threads, hash_seed):
    """Digests of all results of a new process with this number of threads and hash seed."""
    folder.mkdir()
    path = os.pathsep.join([str(Path(__file__).parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    env = {**os.environ, **dict.fromkeys(names, str(threads)), "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", CODE, str(folder)], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_results_depend_only_on_data_settings_and_seed(tmp_path):
    one, two = digests(tmp_path / "one", 1, 0), digests(tmp_path / "two", 2, 4242)
    record("determinism", {"one thread, hash seed 0": one, "two threads, hash seed 4242": two})
    assert one["paper, packed"] == one["paper, loose"] == one["paper, resumed"]
    assert one["best, packed"] == one["best, loose"] == one["best, resumed"]
    assert {name for name in one if one[name] != two[name]} == set()
