# One word per chore. Everything is made in this folder; nothing is downloaded from a model hub.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
WORK   ?= WORK
UV     := .boot/bin/uv
READY  := $(VENV)/.ready

.PHONY: help setup demo test test-slow lint types check ui lock clean
.DEFAULT_GOAL := help

help:            ## list the chores
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(READY)  ## make the environment with pinned versions (.venv)

$(READY): requirements.txt overrides.txt pyproject.toml
	@test -x $(UV) || { $(PYTHON) -m venv .boot && .boot/bin/python -m pip install --quiet uv==0.13.9; }
	@test -x $(BIN)/python || $(UV) venv --quiet --python $(PYTHON) $(VENV)
	$(UV) pip install --quiet --python $(BIN)/python --override overrides.txt -r requirements.txt
	$(UV) pip install --quiet --python $(BIN)/python --no-deps -e .
	@touch $@

demo: setup      ## run the whole machine on data/samples: WORK/, a release, a report
	@# exit code 3 is expected: one sample is broken on purpose
	@$(BIN)/physelite build data/samples -o $(WORK) || test $$? -eq 3
	@$(BIN)/physelite release build $(WORK) --version 0.1.0 --waive "demo: read by machine, reviewed by nobody"
	@$(BIN)/physelite report $(WORK)

test: setup      ## run the tests, without the slow ones
	$(BIN)/python -m pytest -m "not slow"

test-slow: setup ## run the slow test: kill a build at 20 moments, rerun, compare every byte
	$(BIN)/python -m pytest -m slow

lint: setup      ## format and lint check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup     ## strict type check
	$(BIN)/mypy

check: lint types test  ## everything that must pass before a commit

ui: setup        ## start a Prefect server that shows the runs
	@$(BIN)/physelite ui

lock: setup      ## renew requirements.txt
	$(UV) pip compile --quiet --no-header --no-annotate --python-version 3.11 --override overrides.txt \
	  --extra ocr --extra dev pyproject.toml -o requirements.txt

clean:           ## remove everything that make made
	rm -rf $(VENV) .boot $(WORK)
