# `make demo` and `make test` need Python 3.11 or newer (with venv), make and a package index; they install the rest.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: help setup demo test lint check clean

help:
	@echo "make setup   a virtual environment in $(VENV), with exact versions"
	@echo "make demo    judge examples/answers.jsonl with the starter judge"
	@echo "make test    the test suite"
	@echo "make lint    formatting, lint and types"
	@echo "make check   lint and test: what CI runs"

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

check: lint test

clean:
	rm -rf $(VENV) out build dist .mypy_cache .pytest_cache .ruff_cache
