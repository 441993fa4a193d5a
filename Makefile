# Everything happens in .venv; `make` alone says what there is. After the first set-up no target needs a network.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV := .venv
PY := $(VENV)/bin/python
EXTRAS := frames,spark,objects,connect,bench,docs,dev
WORKERS ?= 2
PYTEST := $(PY) -m pytest -n $(WORKERS) --dist loadgroup
COLUMNAR := $(wildcard src/everlog/engines/columnar/*.py src/everlog/engines/columnar/native/*.py)

# Stamps are named after what they were made from, so that touching a file, or checking out an old one, does no harm.
INSTALLED := $(VENV)/installed-$(shell cat pyproject.toml constraints.txt 2>/dev/null | cksum | cut -d' ' -f1)
COMPILED := $(VENV)/compiled-$(shell cat $(COLUMNAR) /dev/null | cksum | cut -d' ' -f1)

.PHONY: help setup run test quick nightly check format bench docs wheel clean constraints

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 20

setup: $(INSTALLED) $(COMPILED) ## make .venv, install the pinned dependencies, compile the kernels once

run: setup ## the wind-farm pipeline on Spark: which temperature sensors are odd?
	@$(PY) examples/wind_farm/pipeline.py

test: check ## everything: set-up, checks, all tests
	@$(PYTEST) -m "not nightly and not spark"
	@$(PY) -m pytest -m "spark and not nightly"

quick: setup ## the tests without Spark and without the slow ones, in under a minute
	@$(PYTEST) -m "not spark and not slow and not nightly"

nightly: setup ## long property tests and faults
	@EVERLOG_PROFILE=nightly $(PYTEST) -m "not spark"
	@EVERLOG_PROFILE=nightly $(PY) -m pytest -m spark

check: setup ## ruff, mypy --strict, and the arrows between layers
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check --quiet . || { echo "some files are not formatted: run 'make format'" >&2; exit 1; }
	@$(PY) -m mypy --strict src
	@$(PY) -m pytest -q --no-header tests/test_layers.py

format: setup ## put every file into the one format
	@$(PY) -m ruff check --quiet --fix-only .
	@$(PY) -m ruff format .

bench: setup ## our benchmarks beside other systems (minutes); results as described in benchmarks/README.md
	@$(PY) -m benchmarks.run

docs: setup ## the documentation as pages, to be read without a network: out/site/index.html
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet
	@echo "out/site/index.html"

wheel: setup ## a wheel in dist/ that carries the kernels, compiled for any processor of this platform
	@NUMBA_CACHE_DIR= XDG_CACHE_HOME=/dev/null $(PY) -m everlog compile
	@rm -rf build
	@$(PY) -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir dist .
	@ls dist/*.whl

clean: ## remove .venv and everything else that targets leave behind
	@rm -rf $(VENV) build dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	@find src \( -name machine_code -o -name grammar_tables \) -type d -prune -exec rm -rf {} +
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

constraints: ## pin what a fresh install of the newest versions gives, into constraints.txt
	@: > constraints.txt
	@rm -rf $(VENV) && $(MAKE) $(PY)
	@$(PY) -m pip install --quiet --upgrade pip "setuptools>=77"
	@$(PY) -m pip install --quiet --no-build-isolation --editable ".[$(EXTRAS)]"
	@{ echo "# Every package of a set-up, pinned. Made by 'make constraints'."; \
	   $(PY) -m pip freeze --all --exclude-editable | grep -v '^pip=='; } > constraints.new && mv constraints.new constraints.txt

# --- set-up, step by step -------------------------------------------------------------------------------------------

$(PY):
	@python=""; \
	for candidate in $${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python="$$candidate"; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "Everlog needs Python 3.11 or newer; found: $$(python3 --version 2>&1 || true)" >&2; \
	  echo "  install one, or say which to use: make setup PYTHON=/path/to/python3.12" >&2; exit 1; \
	fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
	  echo "$$python cannot make virtual environments: its modules venv or ensurepip are missing." >&2; \
	  echo "  on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; \
	fi; \
	echo "setup: making $(VENV) with $$("$$python" --version)"; \
	"$$python" -m venv --clear $(VENV)

$(INSTALLED): | $(PY)
	@echo "setup: installing the pinned dependencies"
	@$(PY) -m pip --version >/dev/null 2>&1 || { rm -rf $(VENV); $(MAKE) $(PY); }
	@$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt setuptools
	@$(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	  --no-build-isolation --editable ".[$(EXTRAS)]"
	@rm -f $(VENV)/installed-* && touch $@

$(COMPILED): $(INSTALLED)
	@echo "setup: compiling the kernels"
	@$(PY) -m everlog compile
	@rm -f $(VENV)/compiled-* && touch $@
