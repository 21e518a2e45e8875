# Every target sets up what it needs from nothing but python3 (3.11 or newer), make and a package index.
# `make` alone lists them.

PYTHON  ?= python3
SOURCE  ?= sample
WORKERS ?= 2
MODULE  ?=
ARGS    ?=

# Through the environment, not pasted into the shell line: a source may hold spaces and quotes.
export SOURCE

VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
TESTED := $(VENV)/.ready-for-tests
UV     := $(or $(shell command -v uv),$(BIN)/uv)
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
LOCK    = $(UV) pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links
PYTEST := $(BIN)/python -m pytest

.DEFAULT_GOAL := help
.PHONY: help setup report lab docs test lint types fast slow browser interop bench mutants lock clean

help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '\n  %s\n' "SOURCE is sample, a file, a glob, a folder or hub:OWNER/NAME, e.g. make report SOURCE=trajectories.json"

setup: $(READY) ## Make .venv with what the reports and the notebooks need

# uv installs in seconds what pip takes minutes for: the one that is there, or one that pip brings, at a locked version.
# Where it reaches no index (it does not read pip's settings), pip does it. Either way every file is held against its hash.
define install
	$(UV) pip install --quiet --python $(BIN)/python $(1) 2>$(VENV)/uv.log || \
		{ echo "uv could not (see $(VENV)/uv.log): pip takes over, which takes a minute or two ..."; $(PIP) install $(1); }
endef

$(READY): requirements/report.lock requirements/installer.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is missing or older than 3.11; name another one: make setup PYTHON=python3.12" >&2; exit 1; }
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV) || \
		{ echo "$(PYTHON) cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@command -v uv >/dev/null || $(PIP) install --require-hashes -r requirements/installer.lock
	@echo "Installing the locked dependencies into $(VENV) (seconds to a minute the first time) ..."
	@$(call install,--require-hashes -r requirements/report.lock)
	@$(call install,--no-deps --no-build-isolation -e .)
	@touch $@

$(TESTED): $(READY) requirements/test.lock
	@echo "Installing what the tests need besides ..."
	@$(call install,--require-hashes -r requirements/test.lock)
	@touch $@

report: $(READY) ## Decode SOURCE, run the notebooks, write reports/html/index.html (ARGS="--only NAME" and others pass through)
	@$(BIN)/python -m analysis report "$$SOURCE" $(ARGS)

# .jupyter holds two defaults: Markdown opens as a page, and no news is fetched.
lab: $(READY) ## Open JupyterLab on the notebooks and their tour, on this machine only, with a token
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/jupyter lab --ServerApp.ip=127.0.0.1 --LabApp.app_settings_dir=.jupyter \
		--LabApp.default_url=/lab/tree/notebooks/README.md $$(test "$$(id -u)" != 0 || echo --allow-root) $(ARGS)

notebook: override export NAME := $(value NAME)
notebook: override export QUESTION := $(value QUESTION)
notebook: $(TESTED) ## Begin a question: NAME=waiting [QUESTION="…"] [NUMBER=15] makes its notebook, measure, chart and tests
	@$(BIN)/python template --name "$$NAME" --question "$$QUESTION" --number "$(NUMBER)"

docs: $(TESTED) ## Write the documentation of the API, with the dictionary and the method, to reports/docs/index.html
	@$(BIN)/python -m analysis.reference.site reports/docs

test: lint types fast slow ## Everything that must pass: format, lint, types, the fast tests, the slow ones

lint: $(TESTED)
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check

types: $(TESTED)
	@$(BIN)/mypy

fast: $(TESTED) ## The fast tests alone
	@$(PYTEST) -m "not slow and not nightly" -n $(WORKERS) $(ARGS)

# The tests of one file run in one worker, so that its browser and its pages are made once.
slow: $(TESTED) browser ## The slow tests alone: they execute notebooks and open pages in Chromium
	@$(PYTEST) -m slow -n $(WORKERS) --dist loadfile $(ARGS)

nightly: $(TESTED) ## The tests that take minutes, which no other target runs: kills at random moments, 10,000 broken files
	@$(PYTEST) -m nightly $(ARGS)

# Chromium comes from the system's packages: a browser is no Python package. Where it cannot be installed the browser
# tests skip and say so, unless REQUIRE_BROWSER=1 makes its absence a failure.
browser:
	@if command -v chromium chromium-browser google-chrome >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		echo "Installing Chromium for the browser tests ..."; \
		export DEBIAN_FRONTEND=noninteractive; \
		apt-get -q -q update </dev/null && apt-get -q -q install -y --no-install-recommends chromium </dev/null >/dev/null \
			|| echo "Chromium could not be installed." >&2; \
	else \
		echo "No Chromium: install it (Debian and Ubuntu: apt-get install chromium) to run the browser tests." >&2; \
	fi

interop: $(TESTED) ## Ask TRL and LlamaFactory themselves whether they take an export: gigabytes, minutes, not part of test
	@INTEROP=1 $(PYTEST) -m slow -rs tests/interop $(ARGS)

bench: $(TESTED) ## Time the suite against its baselines and redraw the benchmark figures
	@$(BIN)/python -m benchmarks $(ARGS)

# mutmut runs the tests in its own process: an environment of its own that sees .venv's packages, and not the project,
# so that what it imports is the mutated copy.
mutants: $(TESTED) ## Mutation testing of analysis/measures (hours): MODULE=tool_usage, ARGS="--sample 500 --seed 1"
	@test -x $(VENV)-mutants/bin/mutmut || { $(BIN)/python -m venv $(VENV)-mutants && \
		$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
			"$$($(VENV)-mutants/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/locked.pth" && \
		$(VENV)-mutants/bin/python -m pip --disable-pip-version-check --quiet install "mutmut>=3.8.1,<4"; }
	@nice -n 19 $(BIN)/python -m tests.measures.mutants $(VENV)-mutants/bin/python --workers $(WORKERS) \
		--module "$(MODULE)" $(ARGS)

# test.lock holds all of report.lock, at the same versions. The installer is what resolves, too.
lock: $(READY) ## Resolve pyproject.toml anew into requirements/*.lock: versions and hashes, no address
	@$(LOCK) --extra tokens --extra replay --group build $(ARGS) --output-file requirements/report.lock pyproject.toml
	@$(LOCK) --extra test --extra docs --extra tokens --extra dask --extra replay --group build --constraint requirements/report.lock $(ARGS) \
		--output-file requirements/test.lock pyproject.toml
	@echo uv | $(LOCK) $(ARGS) --output-file requirements/installer.lock -

clean: ## Remove produced pages and caches of the tools; .venv and decoded tables stay
	@rm -rf reports/docs reports/executed reports/html .pytest_cache .mypy_cache .ruff_cache .hypothesis mutants
