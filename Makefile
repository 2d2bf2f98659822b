# Two commands set everything up on a machine with Python and pip: `make demo` and `make test`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo bytes test test-all test-long check kernels bench bench-scale pictures format lock clean

help:            ## List the targets.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml requirements-dev.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements-dev.lock --editable ".[dev]"
	@touch $@ $(VENV)/installed

demo: $(VENV)/installed   ## Install, train C4.5 on a bundled table, print tree, accuracy and the root's worked gains.
	$(BIN)/treewright train sample:play-tennis --output $(VENV)/play-tennis.model.json
	@echo
	$(BIN)/treewright explain $(VENV)/play-tennis.model.json --node root

# Compiled kernels leave no trace for the coverage tool; their tests run once more with the kernels as plain Python.
KERNEL_TESTS := tests/learners/kernels tests/test_jit.py tests/test_bits.py \
	tests/test_lanes.py tests/counting/test_encoding.py tests/counting/test_engine.py \
	tests/counting/test_histograms.py tests/ensembles/test_bootstrap.py tests/tree/test_packed_forest.py \
	tests/tree/test_route_kernels.py tests/pruning/test_error_based_compiled.py

# With COVERAGE=1 the short tier also notes which lines it ran, for the report at the end of `make test-all`.
COVERAGE ?=
SHORT_LINES := .coverage.short
SHORT_TIER := $(BIN)/python -m pytest -n $(WORKERS) -m "not full"

# Written only if all tests pass, so that the file is as good as a passed run.
define short_tier_with_coverage
	COVERAGE_FILE=$(SHORT_LINES).new $(SHORT_TIER) --cov --cov-report= --cov-fail-under=0
	mv $(SHORT_LINES).new $(SHORT_LINES)
endef

test: $(VENV)/installed-dev   ## Install with the development tools, run the checks and the short tier: about five minutes.
	$(MAKE) --jobs 2 check kernels
ifeq ($(COVERAGE),)
	$(SHORT_TIER)
else
	$(short_tier_with_coverage)
endif

# What the short tier ran is taken over unless a file has changed since.
$(SHORT_LINES): $(VENV)/installed-dev $(shell find src tests docs README.md pyproject.toml -name '*.py' -o -name '*.md' -o -name '*.toml')
	$(MAKE) kernels
	$(short_tier_with_coverage)

# The recorded results of the original programs lie outside this repository, so no line may depend on them to be covered:
# their tests run without the coverage tool, in half the time, and so do the slow ones; file by file, as the tests of one
# share their results.
test-all: $(SHORT_LINES)   ## The rest of the tests (servers, browser, all recorded sets), and the coverage of both tiers.
	$(BIN)/python -m pytest -n $(WORKERS) -m "full and (oracle or slow)" --dist loadfile tests
	cp $(SHORT_LINES) .coverage
	$(BIN)/python -m pytest -n $(WORKERS) -m "full and not oracle and not slow" tests --cov --cov-append --cov-report= --cov-fail-under=0
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n $(WORKERS) -m "not slow" $(KERNEL_TESTS) --cov --cov-append --cov-report=term

bytes: $(VENV)/installed-dev   ## Compare the hashes of models, SQL statements and drawings, also of all recorded sets.
	cd tests && ../$(BIN)/python -m frozen.manifest

check: $(VENV)/installed-dev   ## Formatting, lint, types and the direction of imports.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

kernels: $(VENV)/installed-dev   ## Compile the kernels, which several processes would do each for itself.
	$(BIN)/python scripts/compile_kernels.py

test-long: $(VENV)/installed-dev bytes   ## By hand, an hour or more: all engines on all recorded sets, all hashes; says what is missing.
	TREEWRIGHT_ALL_ENGINES=1 TREEWRIGHT_ENGINES=required $(BIN)/python -m pytest -n $(WORKERS) -rs tests/conformance tests/counting tests/test_engine_servers.py

bench: $(VENV)/installed-dev   ## Compare with the installed peers on the full data: an hour or more.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	$(BIN)/python -m benchmarks.run --full --output benchmarks.json --plot benchmarks.svg

bench-scale: $(VENV)/installed-dev   ## Grow from Parquet files of up to 100,000,000 rows, out of core.
	$(BIN)/python benchmarks/scale.py

pictures: $(VENV)/installed-dev   ## Make the pictures of the README and the guide.
	$(BIN)/python scripts/pictures.py

format: $(VENV)/installed-dev   ## Format the code.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Only tools are locked: numpy and the other libraries may vary with the version of Python.
TOOLS := coverage|execnet|grimp|hypothesis|import-linter|iniconfig|librt|mypy|mypy_extensions|pathspec|playwright|pluggy|pytest|pytest-cov|pytest-xdist|ruff

lock:   ## Upgrade the development tools and write their versions to requirements-dev.lock.
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager --editable ".[dev]"
	$(BIN)/python -m pip freeze --disable-pip-version-check | grep -E '^($(TOOLS))==' > requirements-dev.lock
	@touch $(VENV)/installed-dev $(VENV)/installed

clean:   ## Remove the environment and the caches.
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.short .coverage.short.new
