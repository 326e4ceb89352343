"""The six real agents on one machine, as `tmpwarden setup` finds them and as a user's shell starts them."""

import json
import shlex
from pathlib import Path

from clients.harness import NPM, REPOSITORY, TMPWARDEN, plain_run

AGENTS = ("claude", "codex", "gemini", "copilot", "opencode", "qwen")
STATIC = ("codex", "gemini", "qwen")  # their settings name one directory
PYTHON = REPOSITORY / ".venv" / "bin" / "python"
CRONTAB = """#!/bin/sh
[ "$1" = -l ] && { cat ~/crontab 2>/dev/null || { echo no crontab >&2; exit 1; }; exit; }
cat "$1" >~/crontab
"""
_PROGRAMS = {agent: NPM / agent / "node_modules" / ".bin" for agent in AGENTS}
_PROGRAMS["opencode"] = NPM / "opencode" / "node_modules" / "opencode-linux-x64" / "bin"
PATH = ":".join(["$HOME/bin", *map(str, _PROGRAMS.values()), "$PATH"])
_PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "copilot": "@github/copilot",
    "opencode": "opencode-linux-x64",
    "qwen": "@qwen-code/qwen-code",
}


def setup(*words: str) -> str:
    """A shell line for the agents' user: everything is set up, on a machine with cron and all six on PATH."""
    made = f"mkdir -p ~/bin && printf %s {shlex.quote(CRONTAB)} >~/bin/crontab && chmod +x ~/bin/crontab"
    return f"{made} && {tmpwarden('setup', '--yes', *words)} >&2"


def tmpwarden(*words: str) -> str:
    return f"PATH={PATH} SHELL=/bin/bash {TMPWARDEN} {' '.join(words)}"


def two_hours_later(*words: str) -> str:
    """The command two hours ahead, on a machine that ends where the harness's namespace does."""
    return f"{PYTHON} {REPOSITORY}/tests/support/whole_machine.py 7200 {TMPWARDEN} {' '.join(words)}"


def by_function(agent: str) -> str:
    """The agent as a user's shell starts it, as the harness takes a command line."""
    argv = plain_run(agent)["argv"]
    assert isinstance(argv, list)
    words = next(number for number, word in enumerate(argv) if agent in Path(word).name or "npm-loader" in word)
    script = f"PATH={PATH}; . ~/.bashrc; {agent} {shlex.join(argv[words + 1 :])}"
    return "\x1f".join(["/bin/bash", "-c", script])


def version_of(agent: str) -> str:
    package = NPM / agent / "node_modules" / _PACKAGES[agent] / "package.json"
    return str(json.loads(package.read_text())["version"])
