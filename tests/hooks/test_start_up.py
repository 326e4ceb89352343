"""What each hook loads: a module more costs every tool call of every session."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from hooks.calling import PYTHON, RUN

HEAVY = {
    "argparse", "ast", "collections", "dataclasses", "enum", "functools", "inspect", "json", "pathlib", "re", "shutil",
    "subprocess", "tempfile", "tomllib", "typing",
}  # fmt: skip
PAYLOAD = {"session_id": "s", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "echo hi > /tmp/x"}}


@pytest.mark.parametrize(
    ("event", "is_without_os"),
    [("PostToolUse", True), ("Stop", True), ("PreToolUse", True), ("SessionStart", False), ("SessionEnd", False)],
)
def test_a_hook_loads_nothing_heavy(event: str, is_without_os: bool, own_world: Path) -> None:
    notes = own_world / "state" / "tmpwarden" / "hooks"
    notes.mkdir(parents=True)
    for name in ("markers.due", "clean.due"):
        (notes / name).touch()
        os.utime(notes / name, (time.time() + 50,) * 2)
    argv = [PYTHON, "-I", "-S", "-X", "importtime", str(RUN), "claude", event]
    for _ in range(3):  # the first calls compile modules and rules
        done = subprocess.run(argv, input=json.dumps(PAYLOAD).encode(), capture_output=True, check=True)
    loaded = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert loaded & HEAVY == set()
    if is_without_os:
        assert "os" not in loaded
