"""No deadlines: the first call of a kernel compiles it. The oracles lie one folder up."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parents[1]))
settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")
