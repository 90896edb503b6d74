# Everything a fresh machine needs is python3 (3.11 or newer) with pip and venv, and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PORT ?= 8866

.DEFAULT_GOAL := help
.PHONY: help app lab test check bench format golden pictures bundle clean

help: ## list what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

app: $(VENV)/.app ## set up and open the workbook on http://localhost:8866 (PORT=... for another port)
	$(BIN)/gpuplan app --port $(PORT)

lab: $(VENV)/.dev ## set up and open the notebooks in JupyterLab
	$(BIN)/jupyter lab notebooks --LabApp.news_url=None --LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate

test: $(VENV)/.dev ## set up and run every test
	$(BIN)/python -m pytest -m "not browser" --numprocesses=logical --maxprocesses=8
	$(BIN)/python -m pytest -m browser --numprocesses=2
	$(BIN)/python -m pytest --nbval-lax --nbval-current-env --nbval-cell-timeout=120 --nbval-sanitize-with tests/nbval_sanitize.cfg -p no:cacheprovider notebooks

check: $(VENV)/.dev ## format, lint, types and tests: what CI runs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(MAKE) test

bench: $(VENV)/.dev ## speed, as ratios against what a user would pick instead
	$(BIN)/python benchmarks/bench_plan.py
	$(BIN)/python benchmarks/bench_simulation.py
	$(BIN)/python benchmarks/bench_import.py
	$(BIN)/python benchmarks/bench_explore.py
	$(BIN)/python benchmarks/bench_serve.py
	$(BIN)/python benchmarks/bench_latency.py

format: $(VENV)/.dev ## format code and notebooks
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

golden: $(VENV)/.dev ## accept the headline numbers of the examples as they are now
	$(BIN)/python -m pytest tests/test_golden.py --update-golden

pictures: $(VENV)/.dev ## take the pictures of the README again
	$(BIN)/python -m pytest tests/app/test_tour_browser.py --update-pictures

bundle: $(VENV)/.dev ## make the packaged chart bundle again after an update of altair
	$(BIN)/python -m gpuplan.app.chart

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gpuplan needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.app: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[app,fast]"
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@ $(VENV)/.app
