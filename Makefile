# make book | test | test-all | serve | ledger | notebooks | links | bench | lint | format | clean
# The environment lives in .venv, made from requirements.txt; PYTHON chooses the interpreter it is made with.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

export PYTHONPATH := book/_ext:$(PYTHONPATH)
export PYDEVD_DISABLE_FILE_VALIDATION := 1

.PHONY: book test test-all serve ledger notebooks links bench lint format clean

book: $(READY)
	$(BIN)/python -m bookext.execute --jobs $(JOBS)
	$(BIN)/jupyter-book build . --all -n -W --keep-going
	@echo "The book is at _build/html/index.html"

test: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS)

test-all: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) -m ""

serve: book
	$(BIN)/python -m http.server --directory _build/html --bind 127.0.0.1 8000

ledger: $(READY)
	$(BIN)/python -m bookext.execute --jobs $(JOBS) --accept

notebooks: $(READY)
	$(BIN)/python -m bookext.notebooks _build/notebooks
	$(BIN)/python -m bookext.notebooks _build/notebooks/student --student

links: $(READY)
	$(BIN)/python -m bookext.execute --jobs $(JOBS)
	$(BIN)/jupyter-book build . --builder linkcheck
	grep -oE 'https?://[^][()<>"` ]+' README.md | sort -u | xargs -n 1 curl --fail --silent --show-error --location --retry 3 --output /dev/null

bench: $(READY)
	$(BIN)/python bench/gradient.py
	$(BIN)/python bench/site.py
	$(BIN)/python bench/kernel.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf _build

$(READY): requirements.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@
