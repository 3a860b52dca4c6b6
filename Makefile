# Every target sets up what it needs: python3 and make are enough on a bare Debian or macOS machine.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# Two test processes fill a laptop; Numba and BLAS threads on top of them would only fight.
JOBS ?= 2
# A file stays in one process, so that what its tests share is made once.
PYTEST := $(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile

.PHONY: help demo test test-slow test-selected test-browser axe test-reader check format bench docs setup clean
help:
	@echo "make demo   generate and verify ten demonstrations, from nothing to a dataset"
	@echo "make test   run the fast tests          make check  formatting, lint, types"
	@echo "make bench  measure on this machine     make setup  only install into .venv"
	@echo "make docs   build the site into build/site"

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@PYTHON="$(PYTHON)" sh tools/make_venv.sh .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)
	@$(BIN)/handloom demo -o out/demo

test: $(READY)
	@$(BIN)/handloom warmup
	@$(PYTEST)

test-slow: $(READY)
	@$(PYTEST) -m "slow"

# The slow tests that CI runs: kills and resumes, Ray with a lost machine and S3, and the real lerobot as reader.
# What must not rot: runs that are killed, runs on Ray.
test-selected: $(READY)
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,ray]'
	@HANDLOOM_KILLS=10 $(PYTEST) -m slow tests/engine/test_kill.py tests/engine/test_ray_executor.py

# The pages of viewer and teleoperation in a real browser: what a person does first. Skips itself without Chromium.
BROWSER := tests/viewer/test_page.py tests/viewer/test_page_manners.py tests/viewer/test_export.py
test-browser: $(READY) axe
	@$(BIN)/python -m pytest -q -m "browser and not slow" $(BROWSER)

# Checks of accessibility for those tests; nothing of it is installed or shipped.
AXE := 4.14.0
axe: build/axe/package/axe.min.js
build/axe/package/axe.min.js:
	@mkdir -p build/axe
	@cd build/axe && npm pack --silent axe-core@$(AXE) >/dev/null && tar xzf axe-core-$(AXE).tgz || \
		echo "axe-core cannot be had; its tests skip themselves"

# The real lerobot reads what we write; its environment takes 4 GB and some minutes, so CI leaves it out.
test-reader: $(READY)
	@sh tools/make_reader.sh .venv-reader
	@HANDLOOM_READER_PYTHON=$(CURDIR)/.venv-reader/bin/python $(PYTEST) -m "slow or reader" \
		tests/engine/test_reader.py tests/engine/test_lerobot_policy.py tests/dataset/test_lerobot_reader.py

check: $(READY)
	@$(BIN)/ruff format --check --quiet src tests tools
	@$(BIN)/ruff check --quiet src tests tools
	@$(BIN)/python tools/write_mujoco_stubs.py .venv/stubs
	@$(BIN)/pyright

format: $(READY)
	@$(BIN)/ruff format src tests tools && $(BIN)/ruff check --fix src tests tools

bench: $(READY)
	@$(BIN)/handloom bench

# NO_MKDOCS_2_WARNING is read by the Material theme: its notice about another project is not a fault of the pages.
docs: $(READY)
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@$(BIN)/python tools/write_changelog.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "build/site/index.html"

clean:
	rm -rf .venv .venv-reader out .pytest_cache .ruff_cache
