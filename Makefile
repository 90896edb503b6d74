# Everything a fresh machine needs is python3 (3.11 or newer) with pip and venv, and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PORT ?= 8866
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# What requirements/ names, in that version, with that hash, and never built here; then gpuplan itself, from this folder.
LOCKED := install --require-hashes --only-binary :all:
ITSELF := install --no-index --no-deps --no-build-isolation --editable .
LOCK := $(BIN)/python -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
  --custom-compile-command "make update"
UPGRADE ?= --upgrade
SINCE ?= HEAD
# Folder with openb_nodes.csv and openb_pods.csv; without it that benchmark is left out.
TRACES ?=
# Parts of `make test`, and the processor time that each may take on the machine where the calibration in tests/parts.py takes
# 0.2 s; `make nightly` compares, and fails at twice as much.
#   budget unit      500 s
#   budget browser   320 s
#   budget chapters   80 s
# Processes that Chromium starts are not in these times. By the clock of two quiet cores: 4 min 20 s, 6 min, 45 s.
PARTS ?= unit browser chapters
# Random order of tests in `make nightly`; another one each day.
SEED ?= $(shell date -u +%Y%m%d)

# What is compiled is kept, whatever the machine says: 10,000 tests are gathered twice, and Python is started some hundred times.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help app lab near quick test nightly check pythons docs bench format golden pictures house refit same bundle update sbom clean

help: ## list what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

app: $(VENV)/.app ## set up and open the workbook on http://localhost:8866 (PORT=... for another port)
	$(BIN)/python -m gpuplan.cli app --port $(PORT)

lab: $(VENV)/.dev ## set up and open the notebooks in JupyterLab
	$(BIN)/python -m gpuplan.cli lab notebooks

near: $(VENV)/.dev ## set up and run the tests of what is not committed, under 30 s (SINCE=commit: of what changed since)
	$(BIN)/python tests/near.py $(SINCE)

quick: $(VENV)/.dev ## set up and run the tests of models, plan and layers and one journey through the app, under 90 s
	$(BIN)/python tests/parts.py quick

test: $(VENV)/.dev $(VENV)/.proxy ## set up and run the tests, all but that of the image (PARTS="unit browser": only these parts)
	$(BIN)/python tests/parts.py $(PARTS)

nightly: $(VENV)/.dev $(VENV)/.proxy ## set up and run all tests in random order, all random cases, with each Python (SEED=number)
	pythons=0; .ci/pythons || pythons=1; \
	$(BIN)/python tests/parts.py $(PARTS) cases --shuffle $(SEED) --more-workers 1 --budgets Makefile && exit $$pythons

check: $(VENV)/.dev ## format, lint, types and tests: what CI runs
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .
	$(BIN)/python -m mypy
	@$(MAKE) --no-print-directory test

pythons: $(VENV)/.dev ## the quick tests with each Python that gpuplan is for, as far as it is there, and the steps of the image
	.ci/pythons
	$(BIN)/python -m pytest -m image

docs: $(VENV)/.dev ## build the documentation, to read at build/docs/index.html; nothing in it is loaded from elsewhere
	$(BIN)/python docs/build.py

bench: $(VENV)/.dev ## speed, as ratios against what a user would pick instead (TRACES=folder: with the openb trace)
	$(BIN)/python benchmarks/bench_plan.py
	$(BIN)/python benchmarks/bench_simulation.py
	$(BIN)/python benchmarks/bench_power_on.py
	$(BIN)/python benchmarks/bench_import.py
	$(BIN)/python benchmarks/bench_inventory.py
	$(BIN)/python benchmarks/bench_explore.py
	$(BIN)/python benchmarks/bench_serve.py
	$(BIN)/python benchmarks/bench_latency.py
	$(BIN)/python benchmarks/bench_openb.py $(TRACES)

format: $(VENV)/.dev ## format code and notebooks
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

golden: $(VENV)/.dev ## accept the texts and the headline numbers of the examples as they are now
	$(BIN)/python -m pytest -m "not browser and not image" --numprocesses=2 --dist=worksteal --update-golden \
	  tests/test_golden.py $$(grep -rlE --include='test_*.py' '^from approved import .*_approved' tests)

pictures: $(VENV)/.dev ## take the pictures of the README again
	$(BIN)/python -m pytest tests/app/test_tour_browser.py --update-pictures

house: $(VENV)/.dev ## draw the house again in gpuplan/README.md
	$(BIN)/python tests/house.py

refit: $(VENV)/.dev ## fit the models to the published measurements again; fails if the catalog holds other values
	cd tests && ../$(BIN)/python -m validation

same: $(VENV)/.dev ## compare every answer with that of a commit (SINCE=commit)
	$(BIN)/python tests/same_answers.py compare $(SINCE)

bundle: $(VENV)/.dev ## make the packaged chart bundle again after an update of altair
	$(BIN)/python tests/bundle.py

update: $(VENV)/.dev ## renew what is installed (UPGRADE="--upgrade-package NAME" for one, UPGRADE= for what is new)
	$(LOCK) $(UPGRADE) --extra dev --output-file requirements/dev.txt pyproject.toml
	$(LOCK) --no-annotate --constraints requirements/dev.txt --extra app --extra fast --output-file requirements/app.txt pyproject.toml
	$(LOCK) --no-annotate --constraints requirements/dev.txt --extra app --extra fast --extra hub --output-file requirements/image.txt pyproject.toml
	printf 'hatchling\neditables\n' | $(LOCK) --no-annotate --constraints requirements/dev.txt --output-file requirements/build.txt -

sbom: $(VENV)/.dev ## write what the app consists of to dist/gpuplan.cdx.json (CycloneDX)
	rm -rf build/sbom
	$(BIN)/python -m venv --without-pip build/sbom
	$(BIN)/python -m build --wheel --no-isolation --outdir build/sbom . >build/sbom/log.txt
	$(PIP) --python build/sbom/bin/python $(LOCKED) --requirement requirements/app.txt
	$(PIP) --python build/sbom/bin/python install --no-index --no-deps --find-links build/sbom gpuplan
	mkdir -p dist
	$(BIN)/python -m cyclonedx_py environment --pyproject pyproject.toml --mc-type application --output-reproducible \
	  --output-file dist/gpuplan.cdx.json build/sbom/bin/python

clean: ## remove the virtual environments and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "gpuplan needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.app: pyproject.toml requirements/app.txt requirements/build.txt | $(VENV)/bin/python
	$(PIP) $(LOCKED) --requirement requirements/app.txt --requirement requirements/build.txt
	$(PIP) $(ITSELF)
	@touch $@

$(VENV)/.dev: pyproject.toml requirements/dev.txt | $(VENV)/bin/python
	$(PIP) $(LOCKED) --requirement requirements/dev.txt
	$(PIP) $(ITSELF)
	@touch $@ $(VENV)/.app

$(VENV)/.proxy: requirements/package-lock.json | $(VENV)/bin/python
	@mkdir -p $(VENV)/proxy && cp requirements/package*.json $(VENV)/proxy
	@if command -v npm >/dev/null && npm ci --prefix $(VENV)/proxy --ignore-scripts --no-audit --no-fund --loglevel=error; \
	then ln -sf ../proxy/node_modules/.bin/configurable-http-proxy $(BIN)/ && touch $@; \
	else echo "configurable-http-proxy is not installed (it needs npm and node 20 or newer): no test under JupyterHub"; fi
