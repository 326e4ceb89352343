#!/bin/sh
# teardown.sh SESSION: what an orchestrator in any language does when an agent has ended.
# One JSON object on stdout; exit 0 also when there was nothing to do or somebody still uses it.
exec tmpwarden teardown --session "$1" --agent claude --json
