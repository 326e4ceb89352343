"""What a project sets in the environment of an agent does not lead an installed guard astray.

Gemini and Qwen load a project's `.env`, Claude the `env` of its settings: names of directories, options of Python,
the search path. `{home}` is the user's home, `{evil}` a directory of the project's choice.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tmpwarden.hooks import notebook
from tmpwarden.setup import apply, runtime

SESSION = "4ccb12f1-61e7-48ad-9bec-1437a2f881f7"
PASSED = ""
OF_PROJECT: dict[str, dict[str, str]] = {
    "nothing": {},
    "off": {"TMPWARDEN_DISABLE": "1"},
    "home": {"HOME": "{evil}"},
    "home-of-the-line": {"TMPWARDEN_SHELL_HOME": "{evil}"},
    "temp-is-home": {"TMPDIR": "{home}"},
    "temp-by-a-link": {"TMPDIR": "{evil}/tmp"},
    "temp-by-dots": {"TMPDIR": "/tmp/..{home}"},
    "roots": {"TMPWARDEN_ROOTS": "{home}"},
    "data": {"XDG_DATA_HOME": "{evil}", "XDG_CACHE_HOME": "{evil}", "XDG_RUNTIME_DIR": "{evil}"},
    "state": {"XDG_STATE_HOME": "{evil}", "XDG_CONFIG_HOME": "{evil}"},
    "python": {"PYTHONPATH": "{evil}", "PYTHONHOME": "{evil}", "PYTHONSTARTUP": "{evil}/x.py", "PYTHONINSPECT": "1"},
    "locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    "path": {"PATH": "{evil}", "CDPATH": "{home}", "BASH_ENV": "{evil}/missing", "ENV": "{evil}/missing"},
    "agent": {"CLAUDE_CONFIG_DIR": "{evil}", "CLAUDE_PID": "1", "AI_AGENT": "claude-code/9.9.9"},
    "preload": {"LD_PRELOAD": "{evil}/missing.so"},
}
LINES = (
    "rm -rf /etc/x",
    "rm -rf {home}/photos",
    "echo x > {home}/.bash_login",
    "echo x >> {home}/.profile",
    "echo x > {evil}/tmp/.bash_login",
    "rm -rf {home}/.local/state/tmpwarden",
    "cp x {data}/tmpwarden/any/tmpwarden/hooks/run.py",
    "touch {config}/tmpwarden/off",
    "cat {home}/.ssh/id_ed25519",
)
FILES = ("{home}/.claude/settings.json", "{data}/tmpwarden/any/tmpwarden/hooks/run.py", "{config}/tmpwarden/off")


class Guarded:
    """A home with an installed guard, and a project beside it."""

    def __init__(self, world: Path, agent: str) -> None:
        self.project = world / "project"
        evil = self.project / "evil"
        (evil / "tmpwarden").mkdir(parents=True)
        (evil / "tmpwarden" / "off").touch()
        (evil / "tmpwarden" / "config.toml").write_text('[guard]\npresets = ["none"]\n')
        self.places = {"home": world / "home", "data": world / "data", "config": world / "config", "evil": evil}
        (evil / "tmp").symlink_to(world / "home")
        (world / "home" / "photos").mkdir()
        (world / "home" / f".{agent}").mkdir(exist_ok=True)
        config = world / "config" / "tmpwarden" / "config.toml"
        config.parent.mkdir(exist_ok=True, mode=0o700)
        config.write_text(
            '[guard]\npresets = ["sandbox"]\n[[guard.arguments]]\n'
            'command = "cat"\nmode = "read"\nany_match = ["~/.ssh/*"]\ndecision = "deny"\n'
        )
        apply.install(agent, guard=True)
        target = next(target for target in apply.TARGETS if target.id == agent)
        self.event = target.guard_events[0][0]
        (self.line,) = {line for line in target.commands() if f" {self.event}" in line}
        self.said({}, "Bash", command="rm -rf /etc/x")  # the session has its scratch here, and gets none elsewhere

    def said(self, variables: dict[str, str], tool: str, **given: str) -> str:
        call = {
            "session_id": SESSION, "hook_event_name": self.event, "cwd": str(self.project), "tool_name": tool,
            "tool_use_id": "t", "tool_input": {key: value.format(**self.places) for key, value in given.items()},
        }  # fmt: skip
        env = {name: value for name, value in os.environ.items() if name != "TMPWARDEN_ROOTS"}
        done = subprocess.run(
            ["/bin/sh", "-c", self.line],
            input=json.dumps(call),
            capture_output=True,
            text=True,
            check=True,
            env=env
            | {"CLAUDE_PROJECT_DIR": str(self.project)}
            | {name: value.format(**self.places) for name, value in variables.items()},
        )
        answer = json.loads(done.stdout or "{}").get("hookSpecificOutput", {})
        return str(answer.get("permissionDecision", PASSED))


def test_no_variable_of_a_project_frees_what_is_guarded(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_compile", lambda *_: None)
    guarded = Guarded(own_world, "claude")
    for name, variables in OF_PROJECT.items():
        passed = [line for line in LINES if guarded.said(variables, "Bash", command=line) not in ("ask", "deny")]
        passed += [path for path in FILES if guarded.said(variables, "Write", file_path=path) != "ask"]
        assert passed == [], name


def test_a_home_that_a_project_set_is_what_the_line_means(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules' home is the user's; the shell's is where `~` leads."""
    monkeypatch.setattr(runtime, "_compile", lambda *_: None)
    guarded = Guarded(own_world, "claude")
    (own_world / "project" / "photos").mkdir()
    assert guarded.said({"HOME": str(guarded.project)}, "Bash", command="rm -rf ~/photos") == PASSED
    assert guarded.said({}, "Bash", command="rm -rf ~/photos") == "ask"
    assert guarded.said({"HOME": "/srv"}, "Bash", command="rm -rf ~/photos") == "ask"
    assert guarded.said({"HOME": ""}, "Bash", command="rm -rf ~/photos") == "ask"


@pytest.mark.parametrize("root", ["/etc", "/usr/local", "/home/u", "/home", "/tmp/../etc", "/var/spool"])
def test_a_directory_is_no_temp_root_because_a_variable_says_so(root: str) -> None:
    for variable in (b"TMPDIR", b"TMPWARDEN_ROOTS"):
        environ = {b"HOME": b"/home/u", variable: root.encode()}
        assert set(notebook.shared_roots(environ)) <= {"/tmp", "/var/tmp", "/dev/shm"}
