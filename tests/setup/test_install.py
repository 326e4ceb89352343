"""Install, upgrade and uninstall on the agents' own settings: merged, shown, backed up, and out again byte for byte."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import interpreters
from tmpwarden import __version__
from tmpwarden.errors import BrokenSettings, UnknownAgent
from tmpwarden.setup import apply, runtime
from tmpwarden.setup.targets import TARGETS

AGENTS = [target.id for target in TARGETS]
THEIRS = {
    "claude": (
        '{\n    "model": "opus",\n    "hooks": {\n        "Stop": [\n'
        '            {"hooks": [{"type": "command", "command": "say done"}]}\n'
        '        ]\n    },\n    "env": {"FOO": "bär"}\n}'
    ),
    "codex": '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "mine"}]}]}}\n',
    "gemini": '{\n\t"theme": "Default",\n\t"hooks": {\n\t\t"BeforeTool": []\n\t}\n}\n',
    "qwen": '{"security": {"auth": {"selectedType": "openai"}}}',
    "opencode": '{\n  "$schema": "https://opencode.ai/config.json",\n  "plugin": ["other"]\n}\n',
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_compilation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a second; one test waits for it."""
    if "outlives_us" not in request.node.name:
        monkeypatch.setattr(runtime, "_compile", lambda *_: None)


def settings_of(agent: str) -> Path:
    return Path(next(target for target in TARGETS if target.id == agent).settings())


def put(agent: str, text: str) -> Path:
    path = settings_of(agent)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("agent", AGENTS)
def test_an_uninstall_brings_the_file_back_byte_for_byte(agent: str) -> None:
    path = put(agent, THEIRS[agent]) if agent in THEIRS else settings_of(agent)
    before = path.read_bytes() if path.exists() else None
    apply.install(agent)
    assert path.read_bytes() != before
    apply.uninstall(agent)
    assert (path.read_bytes() if path.exists() else None) == before


@pytest.mark.skipif(shutil.which("node") is None, reason="needs the program node")
@pytest.mark.parametrize("guard", [False, True], ids=["", "guard"])
def test_the_plugin_of_opencode_is_javascript_with_and_without_the_guard(tmp_path: Path, guard: bool) -> None:
    """Half of the file once went with the guard's part, and OpenCode passes over a broken plugin in silence."""
    path = put("opencode", THEIRS["opencode"])
    apply.install("opencode", guard=guard)
    (plugin,) = [each for each in json.loads(path.read_text())["plugin"] if each != "other"]
    module = shutil.copy(plugin.removeprefix("file://"), tmp_path / "plugin.mjs")
    keys = (
        "const m = await import(process.argv[1]); console.log(Object.keys(await m.Tmpwarden({directory: '/'})).join())"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-e", keys, module], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.strip().split(",")) == {
        "experimental.chat.system.transform", "shell.env", "tool.execute.after", "dispose",
        *(["tool.execute.before"] if guard else []),
    }  # fmt: skip


@pytest.mark.parametrize("agent", THEIRS)
def test_what_others_wrote_stays_as_it_was(agent: str) -> None:
    path = put(agent, THEIRS[agent])
    apply.install(agent)
    theirs, now = json.loads(THEIRS[agent]), json.loads(path.read_text())
    for key, value in theirs.items():
        if key == "hooks":
            for event, groups in value.items():
                assert now["hooks"][event][: len(groups)] == groups
        elif isinstance(value, list):
            assert now[key][: len(value)] == value
        else:
            assert now[key] == value


@pytest.mark.parametrize("agent", THEIRS)
def test_after_a_change_by_somebody_else_only_our_part_goes(agent: str) -> None:
    path = put(agent, THEIRS[agent])
    apply.install(agent)
    changed = json.loads(path.read_text()) | {"added": "later"}
    path.write_text(json.dumps(changed))
    apply.uninstall(agent)
    left = json.loads(path.read_text())
    assert left == json.loads(THEIRS[agent]) | {"added": "later"}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_second_install_changes_nothing(agent: str) -> None:
    apply.install(agent, guard=True)
    once = settings_of(agent).read_bytes()
    assert apply.install(agent, guard=True).changed == ()
    assert settings_of(agent).read_bytes() == once


@pytest.mark.parametrize("agent", AGENTS)
def test_a_dry_run_shows_the_change_and_makes_none(agent: str, own_world: Path) -> None:
    done = apply.install(agent, dry_run=True)
    assert "tmpwarden" in "".join(edit.diff() for edit in done.changed)
    assert not settings_of(agent).exists()
    assert not list((own_world / "data").iterdir()) and not list((own_world / "state").iterdir())


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "qwen", "opencode"])
@pytest.mark.parametrize(
    ("text", "line"), [('{\n "a": 1\n "b": 2}\n', "line 3"), ("[]", "line 1"), ('{"a": 1}\n# c\n', "line 2")]
)
def test_broken_settings_are_refused_with_the_line_and_left_alone(
    agent: str, text: str, line: str, own_world: Path
) -> None:
    path = put(agent, text)
    with pytest.raises(BrokenSettings, match=line):
        apply.install(agent)
    assert path.read_text() == text
    assert not list((own_world / "data").iterdir())


def test_an_upgrade_replaces_our_hooks_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    path = put("claude", THEIRS["claude"])
    apply.install("claude")
    old = path.read_text()
    stale = old.replace(f"/{__version__}/", "/0.0.9/")
    path.write_text(stale)
    assert [seen.state for seen in apply.table() if seen.id == "claude"] == ["outdated"]
    apply.install("claude")
    assert path.read_text() == old
    assert [seen.state for seen in apply.table() if seen.id == "claude"] == ["installed"]


def test_a_linked_settings_file_stays_a_link(tmp_path: Path) -> None:
    """People keep their settings in a repository of dotfiles."""
    real = tmp_path / "dotfiles.json"
    real.write_text("{}\n")
    real.chmod(0o640)
    link = settings_of("claude")
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    apply.install("claude")
    assert link.is_symlink()
    assert "SessionStart" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640


def test_the_guard_is_registered_only_when_asked_for() -> None:
    apply.install("claude")
    assert "PreToolUse" not in settings_of("claude").read_text()
    apply.install("claude", guard=True)
    assert "PreToolUse" in settings_of("claude").read_text()
    apply.install("claude")
    assert "PreToolUse" not in settings_of("claude").read_text()


def test_with_the_plugin_on_only_the_guard_is_added() -> None:
    path = put("claude", '{"enabledPlugins": {"tmpwarden@tmpwarden": true}}')
    assert apply.install("claude").changed == ()
    apply.install("claude", guard=True)
    assert list(json.loads(path.read_text())["hooks"]) == ["PreToolUse"]


def test_plugin_and_settings_together_are_told() -> None:
    path = put("claude", "{}")
    apply.install("claude")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"enabledPlugins": {"tmpwarden@x": True}}))
    assert [(seen.id, seen.state) for seen in apply.table()] == [("claude", "twice")]


def test_codex_hooks_are_untrusted_until_the_user_said_yes() -> None:
    done = apply.install("codex")
    assert any("/hooks" in sentence for sentence in done.advice)
    assert [seen.state for seen in apply.table() if seen.id == "codex"] == ["untrusted"]
    config = settings_of("codex").with_name("config.toml")
    assert not config.exists(), "consent is the user's"
    states = "".join(
        f'[hooks.state."{settings_of("codex")}:{event}:0:0"]\ntrusted_hash = "sha256:x"\n'
        for event in ("session_start", "subagent_start", "post_tool_use", "stop", "session_end")
    )
    config.write_text(states)
    assert [seen.state for seen in apply.table() if seen.id == "codex"] == ["installed"]


def test_the_runtime_is_a_copy_that_outlives_us(own_world: Path) -> None:
    apply.install("claude")
    base = own_world / "data" / "tmpwarden" / __version__
    assert (base / "tmpwarden" / "hooks" / "run.py").is_file()
    assert list((base / "tmpwarden" / "hooks" / "__pycache__").glob("entry.*.pyc"))
    assert not (base / "tmpwarden" / "cli").exists()
    command = json.loads(settings_of("claude").read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert str(base) in command
    assert os.path.dirname(sys.executable) not in command, "a venv may vanish"


def installed_command(event: str = "PostToolUse") -> str:
    apply.install("claude")
    found = json.loads(settings_of("claude").read_text())["hooks"][event][0]["hooks"][0]["command"]
    assert isinstance(found, str)
    return found


def test_an_installed_hook_answers(own_world: Path) -> None:
    payload = json.dumps({"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": "/"})
    environ = {**os.environ, "CLAUDE_ENV_FILE": str(own_world / "env")}
    command = installed_command("SessionStart")
    result = subprocess.run(["sh", "-c", command], input=payload, capture_output=True, text=True, env=environ)
    assert (result.returncode, result.stderr) == (0, "")
    assert "Temp files" in result.stdout


@pytest.mark.parametrize("gone", ["the interpreter", "the runtime"])
def test_a_hook_whose_parts_are_gone_passes_in_silence(gone: str, own_world: Path) -> None:
    command = installed_command()
    if gone == "the interpreter":
        command = command.replace(runtime.find_interpreter(), "/nowhere/python3")
    else:
        (own_world / "data" / "tmpwarden" / __version__ / "tmpwarden" / "hooks" / "run.py").unlink()
    result = subprocess.run(["sh", "-c", command], input="{}", capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_a_shim_or_a_venv_is_no_interpreter(tmp_path: Path) -> None:
    shim = tmp_path / "shims" / "python3"
    shim.parent.mkdir()
    shim.symlink_to(interpreters.plain())
    assert not runtime.suits(str(shim))
    venv = tmp_path / "venv" / "bin" / "python3"
    venv.parent.mkdir(parents=True)
    venv.symlink_to(interpreters.plain())
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    assert not runtime.suits(str(venv))


def test_an_agent_nobody_knows_is_named() -> None:
    with pytest.raises(UnknownAgent, match="nobody"):
        apply.install("nobody")


def test_a_home_without_agents_has_an_empty_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert apply.table() == ()


def test_a_runtime_goes_with_the_last_hook_that_names_it(own_world: Path) -> None:
    base = own_world / "data" / "tmpwarden"
    apply.install("claude")
    apply.install("opencode")
    apply.uninstall("claude")
    assert (base / __version__).is_dir()
    apply.uninstall("opencode")
    assert not (base / __version__).exists()


def test_an_upgrade_takes_the_old_runtime_away_when_no_agent_needs_it(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apply, "older_than", lambda *_: "")  # other tests' sessions are root's, too: test_upgrade.py
    base = own_world / "data" / "tmpwarden"
    apply.install("claude")
    apply.install("gemini")
    (base / __version__).rename(base / "0.0.9")
    for agent in ("claude", "gemini"):
        path = settings_of(agent)
        path.write_text(path.read_text().replace(f"/{__version__}/", "/0.0.9/"))
    apply.install("claude")
    assert (base / "0.0.9").is_dir(), "gemini still runs it"
    apply.install("gemini")
    assert not (base / "0.0.9").exists()
