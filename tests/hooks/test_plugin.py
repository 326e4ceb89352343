"""The repository as a Claude Code plugin: what it registers, and a launcher that finds Python and never fails."""

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from hooks.calling import PYTHON, REPOSITORY
from support.mounts import needs_root
from support.user import OrdinaryUser
from tmpwarden import __version__
from tmpwarden.setup.runtime import is_apples_window

PLUGIN = REPOSITORY / "src"  # what Claude Code copies: the package and three small files
HOOKS = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
PAYLOAD = {"session_id": "s-1", "hook_event_name": "SessionStart", "source": "startup", "cwd": "/"}


def commands() -> list[tuple[str, dict[str, object]]]:
    return [(event, hook) for event, groups in HOOKS.items() for group in groups for hook in group["hooks"]]


def command_of(event: str) -> str:
    return str(HOOKS[event][0]["hooks"][0]["command"])


def test_every_hook_has_a_timeout_of_ten_seconds_and_a_quoted_root() -> None:
    for event, hook in commands():
        assert hook["timeout"] == 10
        assert hook["command"] == command_of(event)
        assert f'event={event} root="$CLAUDE_PLUGIN_ROOT";' in command_of(event)


def test_cleaning_follows_calls_that_worked_and_commands_that_failed_and_every_stop() -> None:
    after = ["Bash|Write|Edit|NotebookEdit"]  # what file tools make by name is claimed after their calls, too
    assert [group.get("matcher") for group in HOOKS["PostToolUse"]] == after
    assert [group.get("matcher") for group in HOOKS["PostToolUseFailure"]] == ["Bash"]
    assert "matcher" not in HOOKS["Stop"][0]


def test_the_guard_is_off_unless_asked_for() -> None:
    assert "PreToolUse" not in HOOKS


def test_the_manifests_name_this_version_and_each_other() -> None:
    plugin = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    market = json.loads((REPOSITORY / ".claude-plugin" / "marketplace.json").read_text())
    assert plugin["version"] == __version__
    assert [(entry["name"], entry["source"]) for entry in market["plugins"]] == [(plugin["name"], "./src")]


def test_what_claude_copies_is_small_and_all_of_it_is_ours() -> None:
    """Links would be copied as what they point to, and a .venv or .git as a whole (160 MB once)."""
    listed = subprocess.run(
        ["git", "-C", str(REPOSITORY), "ls-files", "src"], capture_output=True, text=True, check=True
    )
    files = [REPOSITORY / name for name in listed.stdout.splitlines()]
    assert {name.relative_to(PLUGIN).parts[0] for name in files} == {".claude-plugin", "hooks", "tmpwarden"}
    assert not [name for name in files if name.is_symlink()]
    room = 4_000_000  # a package for each system, and what the guard knows of programs
    assert sum(name.stat().st_size for name in files if name.exists()) < room


def checkout(target: Path) -> Path:
    return Path(shutil.copytree(PLUGIN, target, ignore=shutil.ignore_patterns("__pycache__")))


def as_claude_spells(command: str, root: Path) -> str:
    """Before any shell sees it, Claude Code puts the plugin's directory in the place of these words."""
    return command.replace("${CLAUDE_PLUGIN_ROOT}", str(root))


def launch(
    root: Path, event: str = "SessionStart", shell: str = "sh", **env: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*shell.split(), "-c", as_claude_spells(command_of(event), root)],
        input=json.dumps(PAYLOAD, separators=(",", ":")),
        env={**os.environ, "CLAUDE_PLUGIN_ROOT": str(root), **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_works_from_a_path_with_spaces_and_quotes(tmp_path: Path, own_world: Path) -> None:
    root = checkout(tmp_path / "a dir with 'quotes' $HOME")
    result = launch(root, CLAUDE_ENV_FILE=str(tmp_path / "env"))
    assert (result.returncode, result.stderr) == (0, "")
    assert "Temp files" in result.stdout


@pytest.mark.parametrize("shell", ["sh", "bash", "bash --posix"])
@pytest.mark.parametrize(
    "name",
    [
        "a b",
        "it's",
        'say "so"',
        "$(touch ran)",
        "`touch ran`",
        "$HOME",
        "back\\slash",
        "a;touch ran;",
        "two\nlines",
        "*",
    ],
)
def test_no_directory_of_the_plugin_is_anything_but_a_directory(
    tmp_path: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch, name: str, shell: str
) -> None:
    monkeypatch.chdir(own_world)
    root = tmp_path / name
    root.symlink_to(PLUGIN)
    result = launch(root, shell=shell, CLAUDE_ENV_FILE=str(tmp_path / "env"))
    assert "Temp files" in result.stdout
    assert not list(tmp_path.rglob("ran")) + list(own_world.rglob("ran"))


def test_what_lies_in_the_project_is_not_believed(tmp_path: Path, own_world: Path) -> None:
    """A project's settings can set XDG_STATE_HOME, where we remember which Python to run."""
    project = tmp_path / "project"
    memory = project / "state" / "tmpwarden" / "hooks" / "python"
    memory.parent.mkdir(parents=True)
    trap = project / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)
    memory.write_text(f"{trap}\n\n")
    (project / "config" / "tmpwarden").mkdir(parents=True)
    (project / "config" / "tmpwarden" / "off").touch()
    of_project = {"XDG_STATE_HOME": f"{project}/state", "XDG_CONFIG_HOME": f"{project}/config"}
    result = launch(PLUGIN, **of_project, CLAUDE_PROJECT_DIR=str(project), CLAUDE_ENV_FILE=str(tmp_path / "env"))
    assert "Temp files" in result.stdout
    assert not (tmp_path / "ran").exists()


def test_the_interpreter_is_remembered(tmp_path: Path, own_world: Path) -> None:
    launch(PLUGIN)
    memory = own_world / "state" / "tmpwarden" / "hooks" / "python"
    assert memory.read_text().splitlines()[0] == PYTHON
    memory.write_text(f"{tmp_path / 'gone'}\n\n")
    assert launch(PLUGIN, CLAUDE_ENV_FILE=str(tmp_path / "env")).stdout


@needs_root
def test_a_read_only_checkout_keeps_its_compiled_modules_with_our_state(ordinary_user: OrdinaryUser) -> None:
    """Without them every hook would compile everything: three times as slow."""
    root = checkout(ordinary_user.base / "checkout")
    result = ordinary_user.run(
        ["sh", "-c", command_of("SessionStart")], stdin=json.dumps(PAYLOAD), env={"CLAUDE_PLUGIN_ROOT": str(root)}
    )
    assert (result.returncode, result.stderr) == (0, "")
    compiled = list(ordinary_user.home.rglob("pyc/**/entry.cpython-*.pyc"))
    assert compiled


def _without_python(*payloads: dict[str, str]) -> list[str]:
    """What the launcher says to each. Every Python on this machine is hidden behind /bin/false, in a mount namespace of
    the test's own."""
    pythons = {path.resolve() for place in ("/usr/bin", "/usr/sbin") for path in Path(place).glob("python3*")}
    hidden = " && ".join(f"mount --bind /bin/false {shlex.quote(str(path))}" for path in sorted(pythons))
    environ = {**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "CLAUDE_PLUGIN_ROOT": str(PLUGIN)}
    said = []
    for payload in payloads:
        result = subprocess.run(
            ["unshare", "-m", "sh", "-c", f"{hidden} && {command_of(payload['hook_event_name'])}"],
            input=json.dumps(payload, separators=(",", ":")),
            capture_output=True,
            text=True,
            env=environ,
            check=False,
        )
        assert (result.returncode, result.stderr) == (0, "")
        said.append(json.loads(result.stdout)["systemMessage"] if result.stdout else "")
    return said


def _call(event: str, session: str = "s-1", source: str = "startup") -> dict[str, str]:
    return {"session_id": session, "hook_event_name": event, "source": source, "cwd": "/"}


@needs_root
@pytest.mark.parametrize(("event", "source", "speaks"), [
    ("SessionStart", "startup", True), ("SessionStart", "compact", False), ("PostToolUse", "startup", True),
    ("SessionEnd", "startup", False),
])  # fmt: skip
def test_without_python_the_agent_goes_on_and_one_message_says_so(
    event: str, source: str, speaks: bool, own_world: Path
) -> None:
    (said,) = _without_python(_call(event, source=source))
    assert ("Python 3.11" in said) is speaks


@needs_root
def test_a_python_that_goes_while_sessions_run_is_told_once_in_each(own_world: Path) -> None:
    launch(PLUGIN)
    memory = own_world / "state" / "tmpwarden" / "hooks" / "python"
    assert memory.exists(), "it worked before"
    calls = [
        _call("PostToolUse"),
        _call("PostToolUse"),
        _call("Stop"),
        _call("Stop", "s-2"),
        _call("PostToolUse", "s-2"),
    ]
    said = _without_python(*calls, _call("SessionStart", "s-3"), _call("Stop", "s-3"))
    assert [bool(each) for each in said] == [True, False, False, True, False, True, False]
    assert launch(PLUGIN).returncode == 0
    assert not (memory.parent / "no-python").exists(), "it is back: the next loss is told again"


@needs_root
def test_where_nothing_can_be_noted_only_the_start_of_a_session_tells(own_world: Path) -> None:
    hooks = own_world / "state" / "tmpwarden" / "hooks"
    hooks.parent.mkdir(parents=True, exist_ok=True)
    hooks.write_text("a file in the way")
    said = _without_python(_call("PostToolUse"), _call("SessionStart"), _call("PostToolUse"))
    assert [bool(each) for each in said] == [False, True, False]


def test_a_remembered_python_that_does_not_start_any_more_is_looked_for_anew(tmp_path: Path, own_world: Path) -> None:
    broken = tmp_path / "python3"
    broken.write_text("#!/nowhere/python3\n")
    broken.chmod(0o755)
    memory = own_world / "state" / "tmpwarden" / "hooks" / "python"
    memory.parent.mkdir(parents=True, exist_ok=True)
    memory.write_text(f"{broken}\n\n")
    assert launch(PLUGIN, CLAUDE_ENV_FILE=str(tmp_path / "env")).stdout
    assert memory.read_text().splitlines()[0] == PYTHON


def test_a_shim_is_passed_over(tmp_path: Path, own_world: Path) -> None:
    shims = tmp_path / "shims"
    shims.mkdir()
    (shims / "python3.14").write_text(f'#!/bin/sh\necho called >> {tmp_path}/shim; exec {PYTHON} "$@"\n')
    (shims / "python3.14").chmod(0o755)
    launch(PLUGIN, PATH=f"{shims}:{os.environ['PATH']}")
    assert not (tmp_path / "shim").exists()


@needs_root
def test_a_memory_that_is_not_ours_is_not_believed(tmp_path: Path, own_world: Path) -> None:
    """`sudo -E`: HOME is another user's, and so is what he wrote there."""
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)
    memory = own_world / "state" / "tmpwarden" / "hooks" / "python"
    memory.parent.mkdir(parents=True)
    memory.write_text(f"{trap}\n\n")
    os.chown(memory, 65534, 65534)
    launch(PLUGIN)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("shell", ["sh", "bash", "bash --posix"])
@pytest.mark.parametrize("damage", ["gone", "unreadable", "cut", "no runtime", "no interpreter", "interpreter fails"])
def test_a_broken_plugin_ends_with_0_and_says_nothing(tmp_path: Path, own_world: Path, damage: str, shell: str) -> None:
    """Status 2 is what `.` gives for a missing file, Python for a missing script, and Claude takes for "deny"."""
    root = checkout(tmp_path / "plugin")
    launcher = root / "hooks" / "launch"
    memory = own_world / "state" / "tmpwarden" / "hooks" / "python"
    memory.parent.mkdir(parents=True)
    if damage == "gone":
        launcher.unlink()
    elif damage == "unreadable":
        launcher.unlink()
        launcher.mkdir()
    elif damage == "cut":
        launcher.write_text(launcher.read_text()[:-600])
    elif damage == "no runtime":
        shutil.rmtree(root / "tmpwarden")
    elif damage == "no interpreter":
        memory.write_text(f"{own_world}\n\n")  # executable, but a directory
    else:
        memory.write_text("/bin/false\n\n")
    result = launch(root, "PostToolUse", shell=shell)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_apples_window_that_asks_for_tools_is_no_python(tmp_path: Path, own_world: Path) -> None:
    """Where macOS has no developer tools, /usr/bin/python3 opens a window; `xcode-select -p` tells without one."""
    root, opened = checkout(tmp_path / "plugin"), tmp_path / "opened"
    for name, does in (("python3", f"touch {opened}; exit 1"), ("xcode-select", "exit 2")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    launcher = root / "hooks" / "launch"
    text = launcher.read_text()
    for name in ("python3", "xcode-select"):
        assert f"/usr/bin/{name}" in text
        text = text.replace(f"/usr/bin/{name}", str(tmp_path / name))
    launcher.write_text(text)
    assert launch(root, CLAUDE_ENV_FILE=str(tmp_path / "env")).returncode == 0
    assert not opened.exists()
    assert (own_world / "state" / "tmpwarden" / "hooks" / "python").exists(), "another Python was found"


def test_setup_knows_apples_window_too(tmp_path: Path) -> None:
    tool = tmp_path / "xcode-select"
    tool.write_text("#!/bin/sh\nexit 2\n")
    assert not is_apples_window("/usr/bin/python3", str(tool)), "there is no such tool, as on Linux"
    tool.chmod(0o755)
    assert is_apples_window("/usr/bin/python3", str(tool))
    assert not is_apples_window("/opt/homebrew/bin/python3", str(tool))
    tool.write_text("#!/bin/sh\nexit 0\n")
    assert not is_apples_window("/usr/bin/python3", str(tool))
