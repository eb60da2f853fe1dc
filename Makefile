# Every target sets up all that it needs, in .venv. Only Python (with pip and venv) and make are needed.

PYTHON ?= python3
# More options for pytest, e.g. make test ARGS="-k lemke -x"
ARGS ?=
# How much pip says; make PIP_FLAGS= ... shows all of it.
PIP_FLAGS ?= -qq

VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL = $(BIN)/python -m pip --disable-pip-version-check $(PIP_FLAGS) install -c $(CONSTRAINTS)
CONSTRAINTS := constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test test-all check format bench docs clean distclean

help: ## Say what each target does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

demo: $(VENV)/.stamp-plots $(VENV)/.stamp-exact ## Resolve the rocking block's impact with every law and draw it
	@$(BIN)/carom outcomes rocking-block --law all --out out/demo
	@printf 'Figure: %s\n' out/demo/*.png

test: $(VENV)/.stamp-test ## Run the tests that are not slow
	@$(BIN)/python -m pytest -q -n auto $(ARGS)

test-all: $(VENV)/.stamp-test ## Run all tests
	@$(BIN)/python -m pytest -q -n auto -m "" $(ARGS)

check: $(VENV)/.stamp-dev ## Check format, lint, types and import contracts
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: $(VENV)/.stamp-dev ## Format the code and repair what ruff can
	@$(BIN)/ruff check --fix --exit-zero --quiet
	@$(BIN)/ruff format

bench: $(VENV)/.stamp-bench ## Compare speed with other solvers, into benchmarks/results.md
	@$(BIN)/python benchmarks/run.py

docs: $(VENV)/.stamp-docs ## Build the documentation, which works offline, into site
	@# The variable silences advice that has nothing to do with the pages.
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo 'Documentation: site/index.html'

clean: ## Remove caches (Numba's too), builds and outputs
	@find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
	@rm -rf build dist out site .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

distclean: clean ## Remove .venv as well
	@rm -rf $(VENV)

$(VENV)/.stamp-venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'carom needs Python 3.11 or newer: name one with "make PYTHON=python3.12 ...".' >&2; exit 1; }
	@echo 'Making $(VENV) ...'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# .stamp-X stands for the extra X, installed.
$(VENV)/.stamp-bench: CONSTRAINTS := constraints-bench.txt
$(VENV)/.stamp-bench: constraints-bench.txt
$(VENV)/.stamp-%: pyproject.toml constraints.txt $(VENV)/.stamp-venv
	@echo 'Installing carom[$*] into $(VENV) ...'
	@$(PIP_INSTALL) hatchling
	@$(PIP_INSTALL) --no-build-isolation -e '.[$*]'
	@touch $@
