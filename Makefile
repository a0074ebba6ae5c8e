# Everything that is done with Draftscope from a checkout. `make help` lists it.
# Needs Python 3.11 or newer; everything else is installed into $(VENV) at the first call.

PYTHON ?= python3
VENV ?= .venv
# The torch asked of pip, before anything else. A build for one kind of machine: TORCH='torch==2.13.0'.
TORCH ?= torch>=2.9
MODEL ?= smollm2-135m
# Passed on: make run ARGS=--demo, make test ARGS='tests/engine -k cache', make bench ARGS=...
ARGS ?=
# Processes that share the suite, a file at a time, and torch's threads in each: more threads than
# cores wait for one another and do nothing.
WORKERS ?= 2
THREADS ?= 1

BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
TEST_PLATFORM ?= offscreen

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: run test lint screenshots demos bench help clean model

run: $(STAMPS)/run model $(STAMPS)/warm-up ## open the window (the first call installs it and fetches the default model)
	$(BIN)/draftscope $(ARGS)

test: $(STAMPS)/test model lint ## every check: lint, then the whole suite
	QT_QPA_PLATFORM=$(TEST_PLATFORM) OMP_NUM_THREADS=$(THREADS) $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(ARGS)

lint: $(STAMPS)/test ## ruff, mypy strict and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

screenshots: $(STAMPS)/run model ## make the README's pictures from a real run
	QT_QPA_PLATFORM=$(TEST_PLATFORM) $(BIN)/python packaging/screenshots.py $(ARGS)

demos: $(STAMPS)/run model $(STAMPS)/warm-up ## record the sessions that come with Draftscope, on a quiet machine
	$(BIN)/python packaging/demos.py $(ARGS)

bench: $(STAMPS)/run model $(STAMPS)/warm-up ## measure on this machine: make bench ARGS=pass-cost (a list without ARGS)
	$(BIN)/draftscope bench $(ARGS)

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

clean: ## remove caches and build outputs (the environment and the models stay)
	rm -rf build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis \
		.import_linter_cache .grimp_cache
	find app engine tests packaging -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { \
		echo "Draftscope needs Python 3.11 or newer, and there is no '$(PYTHON)': install one, or name yours with make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Draftscope needs Python 3.11 or newer, and '$(PYTHON)' is older: install one, or name yours with make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "'$(PYTHON)' lacks its venv module: install it (on Debian and Ubuntu: apt-get install python3-venv) and call make again." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# torch first and by itself, so that the version asked for is the one that the rest settles on.
$(STAMPS)/torch: | $(BIN)/python
	$(BIN)/python -m pip install "$(TORCH)"
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/run: pyproject.toml $(STAMPS)/torch
	$(BIN)/python -m pip install -e .
	@touch $@

$(STAMPS)/test: pyproject.toml $(STAMPS)/torch
	$(BIN)/python -m pip install -e '.[test]'
	@touch $@ $(STAMPS)/run

# Where it cannot be done, it says why in a line and the packed plan serves.
$(STAMPS)/warm-up: $(STAMPS)/run
	@if $(BIN)/draftscope warm-up; then touch $@; fi

# Does nothing, in a moment, where the model is there and whole.
model: $(STAMPS)/run
	@$(BIN)/draftscope models fetch $(MODEL)
