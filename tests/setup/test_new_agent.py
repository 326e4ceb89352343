"""A new agent with hooks is one file in the catalogue: the rest is written by `make generate docs`, or reads it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
ZCODE = Path(__file__).with_name("zcode.toml")


def test_one_file_makes_an_agent_that_setup_and_hooks_and_the_manual_know(tmp_path: Path, own_world: Path) -> None:
    for name in ("src", "tools", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "pictures"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(ZCODE, tmp_path / "src" / "tmpwarden" / "catalogue" / "agents")
    (own_world / "home" / ".zcode").mkdir()
    environ = {**os.environ, "PYTHONPATH": f"{tmp_path}/src"}

    def run(*words: str, stdin: str = "") -> str:
        done = subprocess.run(
            [sys.executable, *words],
            env=environ,
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("tools/generate.py")
    run("docs/generate.py")
    assert "| ZCode | `zcode` | `~/.zcode/settings.json` |" in (tmp_path / "docs" / "agents.md").read_text()
    changes = json.loads(run("-m", "tmpwarden", "setup", "zcode", "--dry-run", "--json"))["data"]["changes"]
    assert {"hooks", "temp"} <= {each["kind"] for each in changes if each.get("agent") == "zcode"}
    run("-m", "tmpwarden", "setup", "zcode", "--yes")
    hooks = json.loads((own_world / "home" / ".zcode" / "settings.json").read_text())["hooks"]
    assert set(hooks) >= {"SessionStart", "Stop", "SessionEnd"}
    payload = json.dumps({"session_id": "s-1", "hook_event_name": "SessionStart", "source": "startup"})
    start = [f"{tmp_path}/src/tmpwarden/hooks/run.py", "zcode", "SessionStart"]
    assert "additionalContext" in run("-I", "-S", *start, stdin=payload)
