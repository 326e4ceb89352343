# Two commands for a newcomer: `make scan` and `make test`. Everything they need they install into .venv.
SUITS := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
# Apple's python3, where its tools are not installed, is a window that asks for them.
PYTHON ?= $(shell for p in /usr/bin/python3 python3.14 python3.13 python3.12 python3.11 python3; do \
	[ "$$p" != /usr/bin/python3 ] || [ ! -x /usr/bin/xcode-select ] || xcode-select -p >/dev/null 2>&1 || continue; \
	"$$p" -c '$(SUITS)' 2>/dev/null && { echo "$$p"; break; }; done)
BIN := .venv/bin
NEEDED := tmpwarden needs Python 3.11 or newer with its venv module (on Debian and Ubuntu: apt install python3-venv)
PYTEST := $(BIN)/python -m pytest

.PHONY: scan venv dev test journeys journeys-all release-check test-browser test-long test-clients measure-agents test-hosts test-fleet mutants lint bench bench-scale bench-save docs generate soak zipapp pictures
PINS := tools/constraints.txt

scan: venv
	$(BIN)/tmpwarden scan

venv: $(BIN)/tmpwarden
$(BIN)/tmpwarden: pyproject.toml
	@"$(PYTHON)" -c '$(SUITS)' 2>/dev/null || { echo "$(NEEDED)$(if $(PYTHON),; $(PYTHON) is not one)." >&2; exit 1; }
	"$(PYTHON)" -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(PINS) --editable .
	@$(BIN)/python -m compileall -q src  # as pip does for a package that is not editable
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -c 'from tmpwarden.catalogue.load import load; load(dirs=())'
	@touch $@

dev: .venv/dev.stamp
.venv/dev.stamp: $(BIN)/tmpwarden Makefile $(PINS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(PINS) pytest pytest-xdist pytest-timeout hypothesis ruff mypy basedpyright hatchling psutil textual pyyaml
	@touch $@

SHORT := not long and not clients and not hosts and not fleet and not browser and not journey

test: dev  # where memory is to spare, files lie in /dev/shm; with TMPDIR set, there
	$(PYTEST) -n 2 --dist worksteal -m "$(SHORT)" --timeout=120 $(if $(ACCEPT_SKIPS),--accept-skips=$(ACCEPT_SKIPS)) $(if $(TOLD),--told=$(TOLD))

test-browser: dev  # the report in a real Chromium (apt: chromium)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check playwright
	$(PYTEST) -m "browser" tests/report

test-long: dev  # the big forms; then all of `make test` on a disk, with four times as many examples and new ones
	$(PYTEST) -n 2 -m "long and not clients" --hypothesis-profile explore
	TMPDIR=/var/tmp $(PYTEST) -n 2 --dist worksteal -m "$(SHORT)" --hypothesis-profile explore

journeys: dev  # stories of users, from the outside: the installed command, real programs, real disks; needs root
	$(PYTEST) -n 2 --dist loadfile -m "journey" --timeout=300 $(if $(TOLD),--told=$(TOLD)) tests/journeys

journeys-all: journeys test-clients test-hosts test-fleet test-browser  # those by hand too; note them in docs/journeys.md

release-check:  # what an edition needs: all of CI, nothing flaky, nothing that this machine cannot prove
	.ci/run
	@for list in flaky not-proven; do [ ! -s .venv/ci/$$list ] || { echo "no edition: $$list:"; cat .venv/ci/$$list; exit 1; }; done

test-clients: dev
	$(PYTEST) -n 2 --dist loadgroup -m "clients and not long" -p no:cacheprovider

measure-agents: dev  # six real agents, eight ends each: docs/measured-agents.md anew
	rm -f docs/measured-agents.jsonl
	TMPWARDEN_MEASURED=docs/measured-agents.jsonl $(PYTEST) -n 2 -m "clients" -p no:cacheprovider tests/clients/test_cells_clients.py
	$(BIN)/python docs/generate.py

test-hosts: dev  # boots a real Debian host; root, apt: debootstrap systemd-container openssh-client; the first run builds it
	$(PYTEST) -m "hosts" tests/hosts

test-fleet: .venv/fleet.stamp  # three real hosts; apt: as test-hosts, and iproute2 prometheus prometheus-node-exporter
	$(PYTEST) -m "fleet" tests/fleet tests/deploy
.venv/fleet.stamp: .venv/dev.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ansible-core ansible-lint yamllint kubernetes-validate grafana-foundation-sdk
	@touch $@

mutants: dev  # break each line that carries a law, in a copy; its tests must notice
	$(BIN)/python tests/mutants/run.py

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: dev  # the table beside the peers; `make bench-save` also writes docs/performance.md anew
	$(BIN)/python -m bench

bench-scale: dev  # does the cost grow as the litter does? 1,000 to 100,000 sessions, a thousand to a million files; minutes
	$(BIN)/python -m bench.scale

bench-save: dev
	$(BIN)/python -m bench --save
	$(BIN)/python -m bench.scale
	$(BIN)/python -m bench.flame -o docs/performance-start.svg scan --json
	$(BIN)/python -m bench.picture

soak: dev  # ten days of agents under a hard limit, in minutes; needs root to mount
	$(BIN)/python -m bench.soak

generate: dev  # what is made from the TOML files of the agents; a test finds it stale
	$(BIN)/python tools/generate.py

docs: dev  # reference pages; as root also the pictures of terminals. A second run changes nothing
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/pictures.py

pictures: dev  # those of the report too: they show dates, so look at them before you commit; needs root, Chromium, playwright
	$(BIN)/python docs/pictures.py --report

zipapp: venv  # dist/tmpwarden.pyz: one file for machines where nothing may be installed
	$(BIN)/python tools/pack_zipapp.py dist/tmpwarden.pyz
