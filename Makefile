# Every target first installs what it needs, so each works right after cloning.
VENV ?= .venv
BIN := $(VENV)/bin
SETUP := HEARTH_VENV=$(VENV) deploy/development/setup.sh
PYTEST := $(BIN)/python -m pytest
# A test's own time limit can be lost in a task that nobody waits for; this one ends the run.
NO_HANG := -o faulthandler_timeout=330 -o faulthandler_exit_on_timeout=true

# Documentation that people read; reports and decision records are left out.
PROSE := $(wildcard *.md docs/*.md docs/internals/*.md deploy/*/*.md)

.DEFAULT_GOAL := help
.PHONY: help setup demo test check text-check coverage mutation bench bench-scale gate chaos day understanding test-benchmarks test-devices test-home-assistant test-servers test-service test-install test-wheel test-console test-faults lock audit sbom clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 28

setup: ## install Hearth with all extras and development tools into .venv
	@$(SETUP)

demo: ## run spoken and typed commands in a simulated house; installs only what the demo needs
	@$(SETUP) --demo
	@$(BIN)/hearth demo

test: setup ## run all tests that need no sound device and no Home Assistant (TESTS="PATH ...": only these)
	@$(PYTEST) -n auto --dist loadfile -m "not devices and not home_assistant and not service and not console and not faults" \
		--ignore tests/unit/benchmarks $(TESTS)

check: ## check format, lint, types, import rules, dependencies, shell scripts and texts
	@$(SETUP) --check
	@$(MAKE) --no-print-directory text-check
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/deptry .
	@deploy/development/check-unit.sh
	@shellcheck .ci/run deploy/development/*.sh tests/home_assistant/real/debian.sh tests/home_assistant/real/house
	@shellcheck -x deploy/install.sh deploy/install/*.sh deploy/addon/pack.sh
	@$(BIN)/yamllint -s -c deploy/.yamllint.yaml deploy .github .pre-commit-config.yaml
	@$(BIN)/hadolint -c deploy/container/.hadolint.yaml deploy/container/Containerfile deploy/addon/Dockerfile

text-check: setup ## check the wording, spelling and grammar of everything people read
	@$(BIN)/python deploy/development/text_check.py
	@$(BIN)/codespell
	@$(BIN)/proselint check --config deploy/development/proselint.json $(PROSE)

coverage: setup ## measure branch coverage of unit and pipeline tests: at least 90 %, 100 % of policy and turn machine
	@rm -f .coverage .coverage.*
	@$(BIN)/python -m coverage run -m pytest -n auto --dist loadfile -m "not devices and not home_assistant and not service and not console and not faults" \
		--deselect tests/unit/integrations/web/test_page.py::test_a_page_that_means_harm_costs_little --ignore tests/unit/benchmarks tests/unit tests/pipeline
	@$(BIN)/python -m coverage combine -q
	@$(BIN)/python -m coverage report --fail-under=90
	@$(BIN)/python -m coverage report --include="$(shell tr '\n' ',' < tests/covered_whole.txt)" --fail-under=100

mutation: setup ## break the code on purpose and count the faults that the tests notice (PARTS="turn policy converter speech")
	@$(BIN)/mutmut run --max-children 2 "assistant.conversation.rules.microphone.*"
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m tests.mutation --run $(PARTS)

bench: setup ## compare Hearth with similar programs and write docs/reports/figures.md (PARTS="NAME ..."; TURNS=100: number of whole turns; LONG=1: longer runs)
	@$(SETUP) --devices
	@$(BIN)/python -m tests.benchmarks.report $(PARTS)

bench-scale: setup ## measure Hearth with a large house, a long day and many boxes; writes docs/reports/scale.md
	@$(BIN)/python -m tests.benchmarks.scale

gate: setup ## compare costs with stored ratios, and fail if one has grown by a quarter
	@$(BIN)/python -m tests.benchmarks.gate || test $$? -eq 3 # nothing was judged, and it has said so

chaos: ## inject faults into everything that can break, and write the results to docs/reports/faults.md (LONG=1: twice)
	@$(SETUP) --devices --broker
	@$(BIN)/python -m tests.chaos

day: setup ## run a day's 150 dialogues through every brain; writes docs/reports/day.md (about ten minutes)
	@$(BIN)/python -m tests.dialogues

understanding: setup ## type what households say and write docs/reports/understanding.md (HOUSE=real: in a real Home Assistant; HALF=development, LANGUAGE=en, BRAINS="offline": only these)
	@$(BIN)/python -m tests.understanding $(if $(HOUSE),--house $(HOUSE)) $(if $(HALF),--half $(HALF)) $(if $(LANGUAGE),--language $(LANGUAGE)) \
		$(if $(BRAINS),--brains "$(BRAINS)") $(if $(JSON),--json $(JSON))

test-benchmarks: setup ## test the benchmarks themselves
	@$(PYTEST) -n auto --dist loadfile tests/unit/benchmarks

test-devices: ## test with a microphone and a speaker that PulseAudio simulates
	@$(SETUP) --devices
	@$(BIN)/python tests/devices/pulse.py -- $(PYTEST) -m devices tests/devices

test-home-assistant: setup ## test with two temporary Home Assistants (LONG=1: also a Spanish one and two older ones), or with the one at HA_URL
	@HA_MQTT=$${HA_MQTT:-1} $(BIN)/python -m tests.home_assistant.real test -- $(PYTEST) -m home_assistant $(NO_HANG) tests/home_assistant

test-servers: setup ## test with tool servers from npm and PyPI, which it installs (needs npm)
	@HEARTH_PYTHON="$(abspath $(BIN)/python)" deploy/development/mcp-servers.sh $(VENV)/mcp-servers
	@HEARTH_MCP_SERVERS=$(VENV)/mcp-servers $(PYTEST) tests/servers

test-service: ## test the systemd unit in a booted Debian 12 (DEBIAN=trixie: 13, LONG=1: both); needs root
	@$(SETUP) --service
	@$(PYTEST) tests/service -m service

test-install: ## install, upgrade and remove Hearth in a booted Debian 12 (DEBIAN=trixie: 13, LONG=1: both); needs root
	@$(SETUP) --service
	@$(PYTEST) $(or $(INSTALLING),tests/install) -m service

test-wheel: ## run the demo from a wheel, in a separate environment (DEBIAN="bookworm trixie": in fresh roots, as root)
	@deploy/development/try-wheel.sh $(DEBIAN)

test-console: setup ## test the console in headless Chromium
	@$(SETUP) --console
	@$(PYTEST) -m console tests/console

test-faults: setup ## break the disk, the network, the clock and the process of a running Hearth (LONG=1: a hundred kills, a whole day)
	@$(PYTEST) -m faults tests/chaos

lock: setup ## pin every package that Hearth installs, with hashes
	@HEARTH_VENV=$(VENV) deploy/development/supply.sh lock

audit: setup ## check the pinned packages for known vulnerabilities
	@HEARTH_VENV=$(VENV) deploy/development/supply.sh audit

sbom: setup ## list the pinned packages in dist/hearth.cdx.json (CycloneDX)
	@HEARTH_VENV=$(VENV) deploy/development/supply.sh sbom

clean: ## remove the environment and the tools' leftovers
	rm -rf $(VENV) out build dist mutants .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +
