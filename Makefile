# `make demo` and `make test` need Python 3.11 or newer (with venv), make and a package index; they install the rest.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

FLOORS := build/floors

.PHONY: help setup demo test test-floors dist-check lint docs check clean

help:
	@echo "make setup   a virtual environment in $(VENV), with exact versions"
	@echo "make demo    judge examples/answers.jsonl with the starter judge"
	@echo "make test    the test suite"
	@echo "make test-floors  the suite with the oldest versions that pyproject.toml allows (gigabytes of PyTorch)"
	@echo "make dist-check   a wheel and a source distribution, each installed and used in an empty environment"
	@echo "make docs    the documentation as a site in build/site; fails where a link leads nowhere"
	@echo "make lint    formatting, lint and types"
	@echo "make check   lint, docs and test: what CI runs"

setup: $(VENV)/.done

$(VENV)/.done: pyproject.toml constraints.txt
	@echo "installing exact versions into $(VENV) (a minute or two) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "bert-judge needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: setup
	$(BIN)/bert-judge score examples/answers.jsonl --output_dir out --overwrite

test: setup
	$(BIN)/python -m pytest -n 2

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

check: lint docs test

clean:
	rm -rf $(VENV) out build dist .mypy_cache .pytest_cache .ruff_cache
