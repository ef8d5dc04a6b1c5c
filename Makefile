# Each target does its own set-up: a virtual environment in .venv, versions from constraints.txt.
#   make demo    install, then find the parts of 1,797 handwritten digits
#   make test    all set-up and the whole test suite
#   make check   formatting, lint, types, layers (what CI checks beside the tests)
#   make laws    the laws alone, crossed with every method
#   make bench   speed and quality beside other libraries (installs them)
#   make docs    remake the pages that are made from the code
#   make lock    remake constraints.txt

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test check laws bench docs lock clean
.DELETE_ON_ERROR:

.venv/.installed: pyproject.toml constraints.txt
	@echo "setting up .venv (a minute or two) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(INSTALL) --editable .
	@touch $@

.venv/.installed-dev: .venv/.installed
	@echo "installing what the tests and checks need ..."
	@$(INSTALL) --editable '.[dev]'
	@touch $@

.venv/.installed-bench: .venv/.installed-dev
	@echo "installing the peers to compare with ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

demo: .venv/.installed
	@$(BIN)/partwise fit digits -k 16 -o demo-run --seed 0 --force

test: .venv/.installed-dev
	@$(BIN)/python -m pytest

laws: .venv/.installed-dev
	@$(BIN)/python -m pytest tests/laws

check: .venv/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: .venv/.installed-bench
	@$(BIN)/python -m benchmarks

docs: .venv/.installed-dev
	@$(BIN)/python docs/build_methods.py
	@$(BIN)/python docs/build_reproduced.py

lock: .venv/.installed-dev
	@$(INSTALL) uv
	@echo "# The versions that partwise is developed and tested with, for Python 3.11 to 3.14. Made by \`make lock\`." > constraints.txt
	@$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --extra dev \
		--upgrade --no-header --no-annotate --quiet >> constraints.txt

clean:
	rm -rf .venv demo-run .pytest_cache .hypothesis .ruff_cache
