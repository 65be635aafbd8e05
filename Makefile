# The short commands of the README. Plain `make` lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= 2
INSTALLED := .venv/.installed

.PHONY: help install papers test test-slow test-all lint format notebooks smoke examples bench lab docs constraints clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

install: $(INSTALLED) ## make .venv with everything in it

# torch comes first and pinned, so that nothing else decides which build of it is fetched; pip would compile it on one core,
# uv compiles all there is on every core.
$(INSTALLED): pyproject.toml constraints.txt overrides.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt torch==2.13.0 uv
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --constraint constraints.txt --overrides overrides.txt \
		--editable '.[all]' --editable ./benchmarks --group dev --group lint --group bench --group howto --group docs
	touch $@

papers: install ## reproduce every paper at the quick profile and write report/
	$(BIN)/rankplug reproduce all --profile quick

test: install ## run the fast tests
	$(BIN)/python -m pytest -m "not slow" -n $(WORKERS) --dist loadgroup

test-slow: install ## run the slow tests
	$(BIN)/python -m pytest -m slow -n $(WORKERS) --dist loadgroup

test-all: test test-slow ## run all tests

lint: install ## check style, types and notebooks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/deptry rankplug plugins data_prep docs notebooks
	$(BIN)/mypy
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@for notebook in $$(git ls-files '*.ipynb'); do $(BIN)/nbstripout --verify "$$notebook" || exit 1; done

format: install ## put code and notebooks into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@for notebook in $$(git ls-files '*.ipynb'); do $(BIN)/nbstripout "$$notebook"; done

notebooks: install ## run the notebooks that are no tutorials at their smallest size
	@for notebook in notebooks/*.ipynb; do \
		echo "$$notebook"; \
		RANKPLUG_RESULTS=$$(mktemp -d) $(BIN)/papermill --no-progress-bar --log-level WARNING --cwd $$(mktemp -d) \
			-p profile smoke "$$notebook" /dev/null || exit 1; \
	done

smoke: notebooks ## run every notebook at its smallest size
	$(BIN)/python -m rankplug_documentation.notebooks

examples: install ## install the papers of plugins/examples as third-party packages, and test them
	$(BIN)/python -m pytest tests/project/test_example_papers.py

lab: install ## open the notebooks in JupyterLab; LAB="--port 9999 --allow-root" passes options to it
	$(BIN)/rankplug lab notebooks -- $(LAB)

constraints: install ## write constraints.txt from the installed packages
	$(BIN)/uv pip freeze --python $(BIN)/python --exclude-editable | sed 's/+cpu$$//' > constraints.txt

bench: install ## measure beside other libraries, and fill docs/performance.md
	$(BIN)/rankplug bench
	$(BIN)/rankplug bench --document docs/performance.md

# Not with --quiet, under which MkDocs hears no warning, and --strict lets all pass.
docs: install ## build the documentation into site/
	$(BIN)/python -m rankplug_documentation
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean: ## remove .venv and everything that was made
	rm -rf .venv build dist site report .mypy_cache .ruff_cache .pytest_cache .hypothesis
