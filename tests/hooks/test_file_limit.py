"""`[brake] ulimit`: no command of Claude Code writes a file beyond it, and the next hook says why one died."""

import os
import subprocess
from pathlib import Path

import pytest

from hooks.calling import hook, said
from hooks.test_session import agent, env_file, payload, put_off, start, world  # noqa: F401 - fixtures
from support.command import tmpwarden


def limit(text: str) -> None:
    path = Path(os.environ["XDG_CONFIG_HOME"]) / "tmpwarden" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("shell", ["bash", "dash", "zsh"])
def test_a_file_ends_at_the_limit(world: Path, agent: "subprocess.Popen[bytes]", shell: str) -> None:  # noqa: F811
    limit('[brake]\nulimit = "1M"\n')
    start(world, agent)
    line = f". {env_file(world)}; head -c 3M /dev/zero > big; ulimit -S -f unlimited; head -c 3M /dev/zero > wanted"
    try:
        subprocess.run([shell, "-c", line], cwd=world, capture_output=True, timeout=30, check=False)
    except FileNotFoundError:
        pytest.skip(f"needs {shell}")
    assert ((world / "big").stat().st_size, (world / "wanted").stat().st_size) == (1 << 20, 3 << 20)


def test_without_it_there_is_no_limit(world: Path, agent: "subprocess.Popen[bytes]") -> None:  # noqa: F811
    start(world, agent)
    assert "ulimit" not in env_file(world).read_text()


def test_the_next_hook_says_why_a_command_died(world: Path) -> None:  # noqa: F811
    limit('[brake]\nulimit = "50G"\n')
    put_off(world)
    said(hook("claude", "PostToolUse", payload("PostToolUse")))
    response = {"stdout": "", "stderr": "bash: line 1:  4711 File size limit exceeded (core dumped) yes > big"}
    answer = said(hook("claude", "PostToolUse", payload("PostToolUse", tool_name="Bash", tool_response=response)))
    assert "larger than 50.0 GB ([brake] ulimit" in str(answer["systemMessage"])
    assert said(hook("claude", "PostToolUse", payload("PostToolUse", tool_name="Bash", tool_response={}))) == {}


def test_setup_sets_it_and_takes_it_back(own_world: Path) -> None:
    (own_world / "home" / ".claude").mkdir(parents=True, exist_ok=True)
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "tmpwarden" / "config.toml"
    assert tmpwarden("setup", "--agent", "claude", "--no-timer", "--max-file", "much", "--yes").returncode == 3
    assert tmpwarden("setup", "--agent", "claude", "--no-timer", "--max-file", "50G", "--yes").returncode == 0
    assert 'ulimit = "50G"' in config.read_text()
    assert tmpwarden("setup", "--agent", "claude", "--no-timer", "--max-file", "off", "--yes").returncode == 0
    assert 'ulimit = "50G"' not in config.read_text()
