# `make demo` and `make test` need Python 3.11 or newer (with venv), make and a package index; they install the rest:
# the demo what `bert-judge score` needs, the other targets the development packages beside it.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

FLOORS := build/floors
SECONDS ?= 60

.PHONY: help setup demo test test-floors dist-check faults fuzz audit lint docs check clean

help:
	@echo "make setup   a virtual environment in $(VENV) for development, with exact versions"
	@echo "make demo    judge examples/answers.jsonl with the starter judge"
	@echo "make test    the test suite"
	@echo "make test-floors  the suite with the oldest versions that pyproject.toml allows (gigabytes of PyTorch)"
	@echo "make dist-check   a wheel and a source distribution, each installed and used in an empty environment"
	@echo "make faults  a table of faults: what users see, and that no row is lost or doubled"
	@echo "make fuzz    every reader of files under atheris for SECONDS=60"
	@echo "make audit   known vulnerabilities of the exact versions, by pip-audit"
	@echo "make docs    the documentation as a site in build/site; fails where a link leads nowhere"
	@echo "make lint    formatting, lint and types"
	@echo "make check   lint, docs and test: what CI runs"

setup: $(VENV)/.dev

$(VENV)/.demo: pyproject.toml constraints.txt
	@echo "installing exact versions into $(VENV) (a minute or two) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "bert-judge needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) '.[cpu]'
	@touch $@

$(VENV)/.dev: $(VENV)/.demo
	@echo "adding the development packages to $(VENV) (a minute) ..."
	$(INSTALL) '.[dev]'
	@touch $@

demo: $(VENV)/.demo
	$(BIN)/bert-judge score examples/answers.jsonl --output_dir out --overwrite

test: setup
	$(BIN)/python -m pytest -n 3

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The oldest versions of what users install, and the newest tools that the tests need beside them. Old releases of one
# library warn about new ones of another, so warnings are not errors here. Some tests: make test-floors TESTS=tests/encoder
test-floors: $(FLOORS)/.done
	$(FLOORS)/bin/python -m pytest -p no:cacheprovider -n 2 -W default $(TESTS)

$(FLOORS)/.done: pyproject.toml
	$(PYTHON) -m venv --clear $(FLOORS)
	$(FLOORS)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(FLOORS)/bin/uv pip compile --quiet --resolution lowest-direct --python $(FLOORS)/bin/python --output-file $(FLOORS)/floors.txt \
		--extra cpu --extra lexical --extra openai --extra plot --extra sentencepiece --extra server --extra train pyproject.toml
	$(FLOORS)/bin/uv pip install --quiet --python $(FLOORS)/bin/python --constraint $(FLOORS)/floors.txt --editable '.[dev]'
	@touch $@

dist-check: setup
	$(BIN)/python tests/dist_check.py

faults: setup
	$(BIN)/python tests/faults/faults.py

# Atheris and pip-audit are no dependencies of the tests: the one has no packages for some platforms, the other asks the network.
fuzz: setup
	$(BIN)/python -m pip install --quiet atheris
	$(BIN)/python tests/sources/fuzz_atheris.py $(SECONDS)

audit: setup
	$(PYTHON) -m venv build/audit
	build/audit/bin/python -m pip install --quiet pip-audit
	build/audit/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip

check: lint docs test

clean:
	rm -rf $(VENV) out build dist .mypy_cache .pytest_cache .ruff_cache
