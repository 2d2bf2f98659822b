# Two commands set everything up on a machine with Python and pip: `make demo` and `make test`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo test check fast bench format clean

help:            ## List the targets.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@ $(VENV)/installed

demo: $(VENV)/installed   ## Install, train C4.5 on a bundled table, print tree, accuracy and the root's worked gains.
	$(BIN)/treewright train sample:play-tennis --output $(VENV)/play-tennis.model.json
	@echo
	$(BIN)/treewright explain $(VENV)/play-tennis.model.json --node root

test: check   ## Install with the development tools, run every check and every test.
	$(BIN)/python -m pytest -n $(WORKERS) --cov --cov-report=term

check: $(VENV)/installed-dev   ## Formatting, lint, types and the direction of imports.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fast: $(VENV)/installed-dev   ## The tests that take seconds.
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

bench: $(VENV)/installed-dev   ## Report start-up times and the time of C4.5.
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/c45.py

format: $(VENV)/installed-dev   ## Format the code.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:   ## Remove the environment and the caches.
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
