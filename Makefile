# Every target sets up all that it needs, in an environment of its own. Only Python (with pip and
# venv) and make are needed.

PYTHON ?= python3
# More options for pytest, e.g. make test ARGS="-k lemke -x"
ARGS ?=
# A browser for test-browser, where it is not on the path.
export CHROMIUM ?=
# How much pip says; make PIP_FLAGS= ... shows all of it.
PIP_FLAGS ?= -qq

VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
CONSTRAINTS := constraints.txt
PIP := -m pip --disable-pip-version-check $(PIP_FLAGS)
PYTEST := -m pytest -q -n auto

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test test-browser test-engines test-minimal test-wheel test-lowest test-all coverage check \
  format bench docs clean distclean FORCE

help: ## Say what each target does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

demo: .venv/.stamp-demo ## Resolve the rocking block's impact with every law and draw it
	@.venv/bin/carom outcomes rocking-block --law all --out out/demo
	@printf 'Figure: %s\n' out/demo/*.png

test: .venv/.stamp-test ## Run the tests that are not slow and need no physics engine
	@.venv/bin/python $(PYTEST) $(ARGS)

test-engines: .venv-engines/.stamp-engines ## Run the tests that need MuJoCo, Pinocchio or Drake
	@.venv-engines/bin/python $(PYTEST) --engines $(ARGS)

test-browser: .venv/.stamp-browser ## Run the tests of the explorer's page in Chromium
	@[ -n "$$CHROMIUM" ] || command -v chromium chromium-browser google-chrome >/dev/null || { \
	  echo 'No Chromium: apt-get install chromium, or name one: make test-browser CHROMIUM=...' >&2; exit 1; }
	@.venv/bin/python -m pytest -q --browser tests/browser $(ARGS)

test-minimal: .venv-minimal/.stamp-minimal ## Run the tests that need no extra, without any extra
	@cd / && $(CURDIR)/.venv-minimal/bin/python -W error -c 'import carom'
	@.venv-minimal/bin/python $(PYTEST) --skip-missing-extras -r fE $(ARGS)

test-wheel: .venv/.stamp-wheel ## Build wheel and sdist, and test the wheel outside of the checkout
	@rm -rf dist
	@.venv/bin/python -m build --no-isolation --outdir dist . >/dev/null
	@PIP='$(PIP)' .ci/test-wheel $(PYTHON) dist $(ARGS)

test-lowest: .venv-lowest/.stamp-lowest ## Run the tests with the lowest versions that carom takes
	@NUMBA_CACHE_DIR=$(CURDIR)/.venv-lowest/numba .venv-lowest/bin/python $(PYTEST) $(ARGS)

test-all: .venv/.stamp-test .venv-engines/.stamp-engines ## Run all tests, slow ones too, everywhere
	@.venv/bin/python $(PYTEST) -m "" $(ARGS)
	@.venv-engines/bin/python $(PYTEST) -m "" --engines $(ARGS)
	@$(MAKE) --no-print-directory test-browser test-minimal test-wheel test-lowest

coverage: .venv/.stamp-coverage ## Measure which lines the tests run, compiled kernels left out
	@rm -f .coverage
	@.venv/bin/python $(PYTEST) --cov --cov-report=term:skip-covered $(ARGS)

check: .venv/.stamp-check ## Check format, lint, types and import contracts
	@.venv/bin/ruff format --check
	@.venv/bin/ruff check
	@.venv/bin/mypy
	@.venv/bin/lint-imports --no-logo

format: .venv/.stamp-check ## Format the code and repair what ruff can
	@.venv/bin/ruff check --fix --exit-zero --quiet
	@.venv/bin/ruff format

bench: .venv-engines/.stamp-bench ## Compare speed with other solvers, into benchmarks/results.md
	@.venv-engines/bin/python benchmarks/run.py

docs: .venv/.stamp-docs ## Build the documentation, which works offline, into site
	@# The variable silences advice that has nothing to do with the pages.
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict
	@echo 'Documentation: site/index.html'

clean: ## Remove caches (Numba's too), builds and outputs
	@find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
	@rm -rf build dist out site .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

distclean: clean ## Remove the environments as well
	@rm -rf .venv .venv-engines .venv-lowest .venv-minimal

# An environment is made anew when PYTHON names another version than the one that it has.
$(addsuffix /.stamp-python,.venv .venv-engines .venv-lowest .venv-minimal): FORCE
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'carom needs Python 3.11 or newer: name one with "make PYTHON=python3.12 ...".' >&2; exit 1; }
	@[ "$$(cat $@ 2>/dev/null)" = '$(VERSION)' ] || { \
	  echo 'Making $(@D) with Python $(VERSION) ...' && rm -rf $(@D) && $(PYTHON) -m venv $(@D) && \
	  $(@D)/bin/python $(PIP) install -U -c constraints.txt pip hatchling && echo '$(VERSION)' > $@; }

# What pip installs: extras of carom, as its users get them, and groups for work on it.
ENGINES := drake,exact,gymnasium,pinocchio,plots,sweeps,tables,viser
.venv/.stamp-demo: WANTED := -e '.[exact,plots]'
.venv/.stamp-test: WANTED := -e '.[dask,exact,explore,plots,tables]' --group test
.venv/.stamp-browser: WANTED := -e '.[dask,exact,explore,plots,tables]' --group browser
.venv/.stamp-coverage: WANTED := -e '.[dask,exact,explore,plots,tables]' --group coverage
.venv/.stamp-check: WANTED := -e '.[dask,exact,explore,plots,sweeps,tables,viser]' --group check
.venv/.stamp-docs: WANTED := -e . --group docs
.venv/.stamp-wheel: WANTED := -e . --group wheel
.venv-minimal/.stamp-minimal: WANTED := -e . --group test
.venv-engines/.stamp-engines: WANTED := -e '.[$(ENGINES)]' --group engines
.venv-engines/.stamp-bench: WANTED := -e '.[$(ENGINES)]' --group bench
.venv-lowest/.stamp-lowest: WANTED := -e '.[dask,exact,explore,plots,tables]' --group test
.venv-lowest/.stamp-lowest: CONSTRAINTS := constraints-lowest.txt
.venv-lowest/.stamp-lowest: constraints-lowest.txt

.SECONDEXPANSION:
$(addprefix .venv/.stamp-,demo test browser coverage check docs wheel) .venv-minimal/.stamp-minimal \
$(addprefix .venv-engines/.stamp-,engines bench) .venv-lowest/.stamp-lowest: \
  pyproject.toml constraints.txt $$(@D)/.stamp-python
	@echo 'Installing for $(@F:.stamp-%=%) into $(@D) ...'
	@$(@D)/bin/python $(PIP) install -c $(CONSTRAINTS) --no-build-isolation $(WANTED)
	@touch $@
