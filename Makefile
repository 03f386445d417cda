# Detent: every target sets up what it needs. `make demo` and `make test` work in a fresh clone.

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
READY := .venv/.ready
LOCAL := .venv/.local

.PHONY: demo tour test test-embedded screens fuzz kill-matrix check format bench bench-streams bench-sandbox bench-decisions bench-context bench-small bench-sessions bench-agents bench-terminal specs coverage lock clean

# On the best model at hand. With no key and no server the embedded one is installed and fetched;
# whatever goes wrong with that, there is the scripted tour.
demo: $(READY)
	@$(BIN)/detent models check || $(MAKE) -s $(LOCAL) || echo "The embedded model's engine could not be installed."
	@$(BIN)/detent demo

tour: $(READY)
	@$(BIN)/detent demo --scripted

test: $(READY)
	$(BIN)/python -m pytest -n 2

# What the terminal looks like, written anew; look at the pictures before committing them.
screens: $(READY)
	PYTHONPATH=tests $(BIN)/python -m screens

# Damaged streams, and shell texts with bash as the judge, for as long as you like:
# make fuzz MINUTES=60
MINUTES ?= 5
fuzz: $(READY)
	$(BIN)/python tests/fuzz/codecs.py --minutes $(MINUTES) --seed $$(date +%s)
	$(BIN)/python tests/fuzz/shell.py --minutes $(MINUTES) --seed $$(date +%s)

# Sessions killed at every write, sync, rename and spawn, at any moment, with the power and on a bad
# disk; then the command itself: make kill-matrix POINTS=100000 KILL_MINUTES=60 SEED=7
POINTS ?= 10000
KILL_MINUTES ?= 0
SEED ?= $(shell date +%s)
kill-matrix: $(READY)
	PYTHONPATH=tests $(BIN)/python -m kill --count $(POINTS) --minutes $(KILL_MINUTES) --seed $(SEED) --jobs 2
	PYTHONPATH=tests $(BIN)/python -m kill --kinds command --count 300 --minutes $(KILL_MINUTES) --seed $(SEED) --jobs 2

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/tool_specs.py --check
	$(BIN)/python scripts/coverage.py --check

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python bench/run.py

# Deltas per second on every wire beside the vendors' SDKs, and a thousand streams at once.
bench-streams: $(READY)
	$(BIN)/python bench/streams.py

# What a confined command costs over a plain one.
bench-sandbox: $(READY)
	$(BIN)/python bench/sandbox.py

# How long the gate takes to decide on a command.
bench-decisions: $(READY)
	$(BIN)/python bench/decisions.py

# What a long history costs a request, and a run of 300 steps that grows.
bench-context: $(READY)
	$(BIN)/python bench/context.py
	$(BIN)/python bench/run.py --only growth --who floor-asyncio,detent,detent-chat --check

# What a session's log costs, and what it takes to go on with a long one.
bench-sessions: $(READY)
	$(BIN)/python bench/sessions.py

# Subagents: how long groups of them take, and what each costs.
bench-agents: $(READY)
	$(BIN)/python bench/agents.py

# The terminal: first paint, keys, bytes, frames, interrupts, and a gigabyte of output.
bench-terminal: $(READY)
	$(BIN)/python bench/terminal.py

# The embedded model at work: the demo task ten times, and ten one-line repairs.
bench-small: $(LOCAL)
	$(BIN)/python bench/small_model.py

# Tests that need the real weights; skipped where they are not.
test-embedded: $(LOCAL)
	DETENT_TEST_EMBEDDED=1 $(BIN)/python -m pytest tests/embedded -s

# What is generated: the tools as models see them, and the coverage of the requirements.
specs: $(READY)
	$(BIN)/python scripts/tool_specs.py
coverage: $(READY)
	$(BIN)/python scripts/coverage.py

# New versions of what we depend on; look at the change before committing it.
lock: $(READY)
	$(BIN)/python -m pip install -q uv
	$(BIN)/uv pip compile pyproject.toml --upgrade --generate-hashes --no-emit-index-url --no-header --universal --python-version 3.11 -q -o requirements.lock
	$(BIN)/uv pip compile pyproject.toml --extra local --upgrade --generate-hashes --no-emit-index-url --no-header --universal --python-version 3.11 -q -o requirements-local.lock
	$(BIN)/uv pip compile pyproject.toml --group dev --upgrade --generate-hashes --no-emit-index-url --no-header --universal --python-version 3.11 -q -o requirements-dev.lock

$(READY): requirements-dev.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(LOCAL): $(READY) requirements-local.lock
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements-local.lock
	@touch $@

clean:
	rm -rf .venv bench/build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
