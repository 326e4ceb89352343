"""Agents' homes on mounts that hang: every command and every hook answers all the same."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tmpwarden
from support.frozen import beside, needs_fuse
from tmpwarden.agent_facts import FACTS

pytestmark = needs_fuse
HOOK = f"{tmpwarden.__path__[0]}/hooks/run.py"
IMPATIENT = "import sys\nfrom tmpwarden.oskit.proc import reach; reach.DEADLINE_S = 0.2\n"
COMMAND = IMPATIENT + "from tmpwarden.cli.main import main; sys.exit(main(sys.argv[1:]))"
HOMES = (".claude", ".codex", ".gemini", ".copilot", ".config/opencode", ".qwen")
COMMANDS = ["status", "doctor", "metrics", "setup --dry-run", "report -o r.html", "bugreport"]


def payload(**more: object) -> str:
    command = {"command": "rm -rf ~/.claude/x ~/.codex/y"}
    said = {"session_id": "11111111-2222-4333-8444-555555555555", "cwd": "/", "source": "startup"}
    return json.dumps(said | {"tool_name": "Bash", "tool_input": command} | more)


def a_command(line: str) -> list[str]:
    return [sys.executable, "-c", COMMAND, *line.split()]


def all_homes(home: Path) -> list[Path]:
    return [home / name for name in HOMES]


def what_a_link_names(home: Path) -> list[Path]:
    (home / ".claude").symlink_to(home / "elsewhere" / "claude")
    return [home / "elsewhere"]


def a_directory_in_it(home: Path) -> list[Path]:
    return [home / ".claude" / name for name in ("sessions", "projects", "shell-snapshots")]


@pytest.mark.parametrize("shape", [all_homes, what_a_link_names, a_directory_in_it], ids=lambda shape: shape.__name__)
def test_no_command_waits_for_a_frozen_home(
    own_world: Path, monkeypatch: pytest.MonkeyPatch, shape: Callable[[Path], list[Path]]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own_world / "home" / ".config"))
    monkeypatch.chdir(own_world)
    for done in beside(shape(own_world / "home"), [a_command(line) for line in COMMANDS]):
        assert done.returncode in (0, 2), (done.args, done.stderr)


NAMED = [
    "undo --to HOME/.claude", "report -o HOME/.claude/r.html", "report --from HOME/.claude/scan.json",
    "metrics -o HOME/.claude/m.prom", "agents try HOME/.claude/x.toml", "rescue restore x --to HOME/.claude/x",
    "rescue HOME/.claude/x", "scan --config HOME/.claude/c.toml", "guard import HOME/.claude/f.yaml",
    "guard import /dev/null -o HOME/.claude/f.toml", "brake --punch HOME/.claude/x", "why HOME/.claude/x",
    "teardown --session x --worktree HOME/.claude/x", "worktrees proof HOME/.claude/x",
]  # fmt: skip


def test_a_path_on_a_frozen_home_that_a_person_names_is_an_error(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = own_world / "home"
    monkeypatch.chdir(own_world)
    for done in beside([home / ".claude"], [a_command(line.replace("HOME", str(home))) for line in NAMED]):
        assert "does not respond" in done.stderr, (done.args, done.returncode, done.stderr)


@pytest.mark.parametrize("agent", FACTS)
def test_no_hook_waits_for_a_frozen_home(own_world: Path, agent: str) -> None:
    hooks = [[sys.executable, "-I", "-S", HOOK, agent, event] for event in FACTS[agent]["events"]]
    for done in beside(all_homes(own_world / "home"), hooks, payload()):
        assert done.returncode == 0, (done.args, done.stderr)


@pytest.mark.parametrize(
    "said", [{}, {"cwd": "HOME/.claude/x", "tool_input": {"command": "rm -rf y"}}], ids=["path", "cwd"]
)
def test_the_guard_asks_about_a_path_on_a_frozen_home(own_world: Path, said: dict[str, object]) -> None:
    """Whether that is a link to somewhere else cannot be told."""
    home = own_world / "home"
    words = payload(**json.loads(json.dumps(said).replace("HOME", str(home))))
    (done,) = beside(all_homes(home), [[sys.executable, "-I", "-S", HOOK, "claude", "PreToolUse"]], words)
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "ask"
