"""Bundles of the guard that lie ready: the second call in a new state directory would write them, for half a second."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hooks.calling import PYTHON, RUN


@pytest.fixture(scope="session")
def written_bundles(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """As two calls of Claude wrote them. They fit every state directory: what counts is sources and interpreter."""
    world = tmp_path_factory.mktemp("bundles", numbered=False)
    call = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/", "tool_name": "Bash", "tool_use_id": "t"}
    payload = json.dumps({**call, "tool_input": {"command": "rm -rf build > /tmp/log"}}).encode()
    env = {"HOME": str(world), "XDG_STATE_HOME": str(world), "TMPWARDEN_ROOTS": str(world), "PATH": os.environ["PATH"]}
    for _ in range(2):
        subprocess.run([PYTHON, "-I", "-S", RUN, "claude", "PreToolUse"], input=payload, env=env, check=True)
    found = sorted((world / "tmpwarden" / "guard").glob("code-*"))
    assert len(found) == 3, "the guard of Claude, its first look, and what all hooks need"
    return found


@pytest.fixture
def packed(own_world: Path, written_bundles: list[Path]) -> None:
    """For tests in which it is not the bundling that counts."""
    guard = own_world / "state" / "tmpwarden" / "guard"
    guard.mkdir(parents=True, mode=0o700)
    guard.parent.chmod(0o700)
    for bundle in written_bundles:
        shutil.copy2(bundle, guard)
