"""The programs of docs/orchestrators.md, run as they are."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.litter import claude_session
from support.wrapped import eventually, in_quarantine, left_behind

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def test_the_orchestrator_clears_what_its_agent_left_and_says_so(own_world: Path) -> None:
    agent = ["sh", "-c", 'echo work >"$TMPDIR/file"; exit 3']
    argv = [sys.executable, str(EXAMPLES / "orchestrator.py"), *agent]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3, done.stderr
    receipt = json.loads(done.stdout)
    assert [os.path.dirname(path) for path in receipt["removed"]] == [f"{own_world}/tmp/tmpwarden-{os.geteuid()}"]
    assert (receipt["kept"], receipt["error"]) == ({}, None)
    assert eventually(lambda: len(left_behind(own_world / "tmp")) == len(in_quarantine(own_world / "tmp")) == 1)


def test_the_server_cleans_and_works_and_ends_with_its_input() -> None:
    with subprocess.Popen(
        [sys.executable, str(EXAMPLES / "server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin and server.stdout and server.stderr
        assert server.stderr.readline() == "removed 0, freed 0 bytes\n"
        server.stdin.write("work\n")
        server.stdin.flush()
        assert server.stdout.readline() == "WORK\n"
        server.stdin.close()
        assert server.wait(timeout=60) == 0


def test_the_script_prints_one_receipt(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = own_world / "bin"
    tools.mkdir()
    (tools / "tmpwarden").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tmpwarden "$@"\n')
    (tools / "tmpwarden").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    unit = claude_session(own_world / "tmp")
    done = subprocess.run([str(EXAMPLES / "teardown.sh"), unit.name], capture_output=True, text=True, check=True)
    assert [entry["path"] for entry in json.loads(done.stdout)["data"]["removed"]] == [str(unit)]


@pytest.mark.parametrize("name", ["orchestrator.py", "server.py"])
def test_the_page_shows_the_examples_as_they_are(name: str) -> None:
    assert f"```python\n{(EXAMPLES / name).read_text()}```" in (ROOT / "docs" / "orchestrators.md").read_text()
