# Every target that needs something installs it first; run one right after cloning.
VENV ?= .venv
BIN := $(VENV)/bin
SETUP := HEARTH_VENV=$(VENV) deploy/development/setup.sh
PYTEST := $(BIN)/python -m pytest

.DEFAULT_GOAL := help
.PHONY: help setup demo test check bench test-devices test-home-assistant clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 28

setup: ## installs what Hearth needs into .venv, and nothing else
	@$(SETUP)

demo: setup ## spoken and typed commands in a simulated house
	@$(BIN)/hearth demo

test: setup ## all tests that need no sound device and no Home Assistant
	@$(PYTEST) -n auto --dist loadfile -m "not devices and not home_assistant"

check: ## format, lint, types, import rules, dependencies, shell scripts
	@$(SETUP) --check
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/deptry .
	@shellcheck .ci/run deploy/development/*.sh

bench: setup ## measures, and prints what was measured on what
	@$(BIN)/python -m tests.benchmarks

test-devices: ## tests with a microphone and a speaker that PulseAudio simulates
	@$(SETUP) --devices
	@$(BIN)/python tests/devices/pulse.py -- $(PYTEST) -m devices

test-home-assistant: setup ## tests with the Home Assistant at HA_URL, whose token is HA_TOKEN
	@test -n "$$HA_URL" -a -n "$$HA_TOKEN" || { \
		echo "Set HA_URL (http://homeassistant.local:8123) and HA_TOKEN (a long-lived access token from your profile page), then run this again." >&2; exit 2; }
	@$(PYTEST) -m home_assistant

clean: ## removes the environment and what the tools left behind
	rm -rf $(VENV) out build dist .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +
