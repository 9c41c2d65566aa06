# Every target sets up what it needs. `make help` lists them.

PORT ?= 8700
export CHROMIUM ?= /usr/bin/chromium
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# The first interpreter that is new enough.
PYTHON ?= $(or $(shell for python in python3.11 python3.12 python3.13 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; \
	done),python3)

BIN := .venv/bin
PYTHON_READY := .venv/.ready
NODE_READY := node_modules/.ready
CLIENT := client-js/dist/index.js
PAGE := examples/assistant/web/dist/index.html
# Pages with the official hooks: they have nothing of the client in them.
OFFICIAL_PAGES := examples/langchain-react/web/dist/index.html e2e/official/web/dist/react.html
REACT_PAGE := e2e/react/web/dist/index.html

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##### Use

.PHONY: setup demo
setup: $(PYTHON_READY) $(NODE_READY) ## Install all dependencies

demo: $(PYTHON_READY) $(PAGE) ## Serve the example assistant on PORT (8700)
	exec env PYTHONPATH=. $(BIN)/farside serve examples.assistant.app:app --port $(PORT)

##### Test

# A process for each core; more than four browsers would be no faster.
PARALLEL := -n auto --maxprocesses 4 --dist worksteal

.PHONY: test test-python test-js test-package e2e
test: test-python test-js test-package e2e ## Run all tests

test-python: $(PYTHON_READY) ## Test the server
	$(BIN)/pytest $(PARALLEL) server/tests

test-js: $(NODE_READY) ## Test the client
	npm test -w client-js

test-package: $(CLIENT) ## Test that the npm package is well-formed, installs and type-checks in a fresh project
	node client-js/scripts/check-package.mjs

e2e: $(PYTHON_READY) $(PAGE) $(OFFICIAL_PAGES) $(REACT_PAGE) .venv/.playwright | $(CHROMIUM) ## Test both together in Chromium
	$(BIN)/pytest $(PARALLEL) e2e

.PHONY: test-oldest
test-oldest: .venv-oldest/.ready ## Test the LangGraph runtime with the oldest LangChain and LangGraph allowed
	.venv-oldest/bin/pytest $(PARALLEL) server/tests/langgraph

##### Check

# What the ready-made tools are declared with in the page.
READY_MADE := -o client-js/src/tools/declarations.gen.ts --import ../tool/declare.ts

.PHONY: check check-python check-js check-generated check-locks
check: check-python check-js check-generated check-locks size ## Run linters, type checkers, freshness and size checks

check-python: $(PYTHON_READY) $(NODE_READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	npx pyright
	$(BIN)/lint-imports --no-logo

check-js: $(NODE_READY) $(CLIENT)
	npx biome check --error-on-warnings
	node client-js/scripts/check-imports.mjs
	npm run typecheck --workspaces

check-generated: $(PYTHON_READY) $(NODE_READY)
	$(BIN)/python -m farside.wire.schema --check
	$(BIN)/farside types farside.browser $(READY_MADE) --check
	node client-js/scripts/generate-types.mjs --check

check-locks:
	@! grep -nE '://|file:|--(extra-)?index-url|--find-links' requirements/dev.txt requirements/oldest.txt
	@! grep -nE '"resolved": "[a-z+]+:' package-lock.json

##### Measure

.PHONY: size bench
size: $(CLIENT) ## Hold the client's size to its budget
	node client-js/scripts/size.mjs

bench: $(PYTHON_READY) ## Measure the server
	$(BIN)/python server/benchmarks/round_trip.py

##### Change

.PHONY: format generate lock clean
format: $(PYTHON_READY) $(NODE_READY) ## Format and apply safe fixes
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	npx biome check --write

generate: $(PYTHON_READY) $(NODE_READY) ## Write what is generated from the message models and the ready-made tools
	$(BIN)/python -m farside.wire.schema
	$(BIN)/farside types farside.browser $(READY_MADE)
	node client-js/scripts/generate-types.mjs

lock: .venv/.created ## Lock the dependencies (UPGRADE=--upgrade for the newest)
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-annotate --custom-compile-command 'make lock' \
		--quiet --output-file requirements/dev.txt $(UPGRADE)
	sed -E '/^lang(chain|graph)/,/[^\\]$$/d' requirements/dev.txt | $(BIN)/uv pip compile pyproject.toml \
		--extra langgraph --extra testing --group dev --universal --python-version 3.11 \
		--resolution lowest --constraint - $(addprefix --no-emit-package ,import-linter playwright ruff) \
		--generate-hashes --no-emit-index-url --no-annotate --custom-compile-command 'make lock' \
		--quiet --output-file requirements/oldest.txt --upgrade
	npm install --package-lock-only --ignore-scripts

clean: ## Remove all that is installed, built or cached
	rm -rf .venv .venv-oldest node_modules client-js/dist $(dir $(PAGE) $(OFFICIAL_PAGES) $(REACT_PAGE))
	rm -rf .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -r {} +

##### Files

.venv/.created:
	$(PYTHON) -c 'import ensurepip' 2>/dev/null || scripts/apt-install python3-venv
	$(PYTHON) -c 'import sys; sys.exit("farside needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv --clear .venv
	touch $@

.venv/.dependencies: requirements/dev.txt .venv/.created
	$(BIN)/pip install --quiet --require-hashes -r $<
	touch $@

$(PYTHON_READY): pyproject.toml .venv/.dependencies
	$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	$(BIN)/pip check
	touch $@

# Everything is as in .venv but LangChain and LangGraph, which are as old as pyproject.toml allows.
.venv-oldest/.ready: requirements/oldest.txt .venv/.created
	$(BIN)/python -m venv --clear --without-pip .venv-oldest
	$(BIN)/pip --python .venv-oldest install --quiet --no-compile --no-deps --require-hashes -r $<
	$(BIN)/pip --python .venv-oldest install --quiet --no-deps --no-build-isolation -e .
	$(BIN)/pip --python .venv-oldest check
	touch $@

$(NODE_READY): package-lock.json package.json client-js/package.json examples/assistant/web/package.json \
		examples/langchain-react/web/package.json e2e/official/web/package.json e2e/react/web/package.json
	npm ci
	touch $@

# Directories count as sources too, so that a deleted file is noticed.
$(CLIENT): $(NODE_READY) $(shell find client-js/src 2>/dev/null) client-js/tsconfig.json client-js/tsdown.config.ts
	npm run build -w client-js

$(PAGE): $(CLIENT) $(shell find examples/assistant/web/index.html examples/assistant/web/src 2>/dev/null) \
		examples/assistant/web/vite.config.ts
	npm run build -w examples/assistant/web

examples/langchain-react/web/dist/index.html: $(NODE_READY) $(shell find examples/langchain-react/web/src 2>/dev/null) \
		examples/langchain-react/web/index.html examples/langchain-react/web/vite.config.ts
	npm run build -w examples/langchain-react/web

e2e/official/web/dist/react.html: $(NODE_READY) $(shell find e2e/official/web/src 2>/dev/null) \
		$(wildcard e2e/official/web/*.html) e2e/official/web/vite.config.ts
	npm run build -w e2e/official/web

$(REACT_PAGE): $(CLIENT) $(shell find e2e/react/web/index.html e2e/react/web/src 2>/dev/null) e2e/react/web/vite.config.ts
	npm run build -w e2e/react/web

# Playwright brings a Node of its own, which needs a library that a small Debian lacks.
.venv/.playwright: .venv/.dependencies
	$(BIN)/playwright --version || scripts/apt-install libatomic1
	touch $@

$(CHROMIUM):
	scripts/apt-install chromium
	test -x $@
