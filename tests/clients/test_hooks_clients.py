"""Our hooks inside the six real agents: where TMPDIR leads, what is left, and that the agent does not notice us."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from clients.harness import (
    BREAK,
    LATER,
    NPM,
    PLUGIN,
    REPOSITORY,
    TMPWARDEN,
    bash,
    heard,
    install,
    left_in_tmp,
    plain_run,
    run_agent,
    run_claude,
    tool_results,
)
from support.bases import base_for_all

pytestmark = pytest.mark.clients
OTHERS = ("codex", "gemini", "copilot", "opencode", "qwen")
REACHED = ("opencode",)  # of the others: whose commands get TMPDIR from a hook
SCRATCH = r"/tmp/tmpwarden-1000/[0-9a-f]{8}"
BOUNDED = re.compile(
    r"/tmp/(node-compile-cache/|codex-(daemon|bwrap))"
)  # the agent's own, never more (docs/catalogue.md)
LEADING = "mkdir -p ~/.config/tmpwarden && printf '[redirect]\\ntmp = true\\n' > ~/.config/tmpwarden/config.toml"


@pytest.mark.parametrize("agent", OTHERS)
def test_an_agent_answers_as_it_does_without_us_and_its_command_has_the_scratch(agent: str) -> None:
    result = run_agent(agent, setup=install(agent))
    assert heard(result) == heard(plain_run(agent))
    if agent in REACHED:
        shells = result["shells"]
        assert isinstance(shells, list)
        assert re.fullmatch(SCRATCH, shells[0]["gettempdir"])


@pytest.mark.parametrize("agent", OTHERS)
def test_an_agent_answers_as_it_does_without_us_when_our_hooks_are_broken(agent: str) -> None:
    assert heard(run_agent(agent, setup=f"{install(agent)} && {BREAK}")) == heard(plain_run(agent))


@pytest.mark.parametrize("agent", OTHERS)
def test_with_a_broken_guard_an_agent_answers_as_it_does_without_us_or_asks(agent: str) -> None:
    """Nobody is there to be asked: Copilot takes that for a no. Qwen runs on, by its --yolo; the others know no ask."""
    result = run_agent(agent, setup=f"{install(agent, '--guard')} && {BREAK}")
    if agent == "copilot":
        assert "unable to ask user for confirmation): tmpwarden was killed or could" in str(result["stdout"])
    else:
        assert heard(result) == heard(plain_run(agent))


@pytest.mark.parametrize("agent", OTHERS)
def test_a_later_clean_takes_what_a_killed_agent_itself_left(agent: str) -> None:
    """Without a lease nobody knows whose it is, so it goes by age: here the clock does have to move."""
    further = f"sleep 1; pkill -KILL -f 'prob[e].py orig'; {LATER} clean --force --quiet"
    result = run_agent(agent, "--end", "kill", setup=install(agent), post=further)
    left = [path for path in left_in_tmp(result) if not BOUNDED.match(path) and "probe-" not in path]
    assert left == []


@pytest.mark.parametrize("agent", OTHERS)
def test_an_uninstalled_agent_has_its_home_back(agent: str) -> None:
    result = run_agent(agent, setup=f"{install(agent)} >&2 && {TMPWARDEN} uninstall {agent}")
    home = result["home"]
    assert isinstance(home, list)
    assert not [entry["path"] for entry in home if "/.local/state/tmpwarden/hooks" in entry["path"]]


def test_claudes_commands_make_their_temp_files_in_the_scratch() -> None:
    result = run_claude(bash("mktemp; echo TMPDIR=$TMPDIR"), "--plugin-dir", str(PLUGIN))
    assert re.search(rf"{SCRATCH}/tmp\.\w+", tool_results(result))
    assert result["rc"] == 0


def test_claude_is_told_where_its_scratch_is() -> None:
    result = run_claude(bash("true"), "--plugin-dir", str(PLUGIN))
    events = json.dumps(result["hook_events"])
    assert re.search(rf"Temp files: use \$TMPDIR \({SCRATCH}\)", events)


def test_a_failing_bash_call_also_fires_our_hook() -> None:
    result = run_claude(bash("exit 7"), "--plugin-dir", str(PLUGIN))
    names = {event.get("hook_name") for event in result["hook_events"]}  # type: ignore[attr-defined]
    assert "PostToolUseFailure:Bash" in names


def quarantined_only(result: dict[str, object]) -> list[str]:
    remained = result["remained"]
    assert isinstance(remained, dict)
    ours = [path for path, entry in remained.items() if "/tmpwarden-1000/" in path and entry["k"] != "d"]
    return [path for path in ours if "/q/" not in path]


def test_claudes_scratch_is_quarantined_after_a_normal_exit() -> None:
    result = run_claude(bash("mktemp"), "--plugin-dir", str(PLUGIN), "--settle", "8")
    assert quarantined_only(result) == []


def test_a_sandboxed_claude_writes_into_its_scratch() -> None:
    settings = '{"sandbox":{"enabled":true}}'
    result = run_claude(bash("mktemp"), "--plugin-dir", str(PLUGIN), "--settings", settings)
    assert re.search(r"/tmp/claude-1000/tw/[0-9a-f]{8}/tmp\.\w+", tool_results(result))


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory that the agent's user can reach: /tmp is its own there, and pytest's directories are 0700."""
    with base_for_all() as base:
        base.chmod(0o777)
        yield base


def test_a_resumed_claude_has_its_files_back(shared: Path) -> None:
    """`-p --continue`: the env file that it sources is the one of the first run."""
    home, temp, work = (shared / name for name in ("home", "tmp", "work"))
    first = run_claude(bash("echo kept > $TMPDIR/note"), "--plugin-dir", str(PLUGIN), "--settle", "8",
                       "--work", str(work), home=home, tmp=temp)  # fmt: skip
    assert first["rc"] == 0
    again = run_claude(bash("cat $TMPDIR/note"), "--plugin-dir", str(PLUGIN), "--work", str(work),
                       "--", "--continue", home=home, tmp=temp)  # fmt: skip
    assert "kept" in tool_results(again)


def test_claude_answers_as_it_does_without_us() -> None:
    script = bash("echo hello")
    plain, ours = run_claude(script), run_claude(script, "--plugin-dir", str(PLUGIN))
    assert ours["rc"] == plain["rc"] == 0
    assert ours["result"]["result"] == plain["result"]["result"]  # type: ignore[index]


@pytest.mark.parametrize("how", ["plugin", "settings"])
def test_claude_answers_as_it_does_without_us_when_our_hooks_are_broken(how: str, shared: Path) -> None:
    script = bash("echo hello")
    plain = run_claude(script)
    if how == "settings":
        broken = run_claude(script, "--pre", f"{install('claude')} && {BREAK}")
    else:
        plugin = shared / "plugin"
        for name in (".claude-plugin", "hooks"):
            (plugin / name).mkdir(parents=True)
            for file in (PLUGIN / name).iterdir():
                (plugin / name / file.name).write_bytes(file.read_bytes())
        broken = run_claude(script, "--plugin-dir", str(plugin))
    assert broken["rc"] == plain["rc"] == 0
    assert "hello" in tool_results(broken)
    assert broken["result"]["result"] == plain["result"]["result"]  # type: ignore[index]


def test_with_a_broken_guard_claude_asks_and_says_why() -> None:
    """Nobody is there to be asked, so the call is not made; and Claude was resumed."""
    result = run_claude(bash("echo hello"), "--pre", f"{install('claude', '--guard')} && {BREAK}")
    assert result["rc"] == 0
    assert "tmpwarden was killed or could not start, so this call was not checked" in tool_results(result)


def test_claude_validates_installs_and_runs_the_plugin_offline(shared: Path) -> None:
    checkout = shared / "check out"
    subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(checkout)], check=True)
    claude = NPM / "claude/node_modules/@anthropic-ai/claude-code/bin/claude.exe"
    steps = " && ".join([
        f"{claude} plugin validate --strict '{checkout}'",
        f"{claude} plugin validate --strict '{checkout}/src'",
        f"{claude} plugin marketplace add '{checkout}'",
        f"{claude} plugin install tmpwarden@tmpwarden",
        "echo COPIED=$(du -sk ~/.claude/plugins/cache | cut -f1)",
    ])  # fmt: skip
    result = run_claude(bash("echo TMPDIR=$TMPDIR"), "--pre", steps)
    assert result["pre"]["rc"] == 0, result["pre"]  # type: ignore[index]
    said = json.dumps(result["pre"])
    assert "found nothing to report" in said, said
    assert 0 < int(re.findall(r"COPIED=([0-9]+)", said)[0]) < 8000  # KB, with what Python compiled
    assert re.search(rf"TMPDIR={SCRATCH}", tool_results(result))


def test_plugin_and_settings_together_tell_the_model_once() -> None:
    result = run_claude(bash("true"), "--plugin-dir", str(PLUGIN), "--pre", install("claude"))
    told = [event for event in result["hook_events"] if "Temp files" in str(event.get("stdout"))]  # type: ignore[attr-defined]
    assert len(told) == 1


@pytest.mark.parametrize("agent", OTHERS)
def test_under_run_a_commands_temp_file_lands_in_the_scratch_and_nothing_is_left(agent: str) -> None:
    """Every agent, also those whose hooks cannot set TMPDIR. Its own temp files go there too."""
    argv = plain_run(agent)["argv"]
    assert isinstance(argv, list)
    wrapped = [str(TMPWARDEN), "run", "--agent", agent, "--", *argv]
    result = run_agent(agent, "--argv", "\x1f".join(wrapped), post=f"sleep 2; {LATER} clean --force --quiet")
    shells = result["shells"]
    assert isinstance(shells, list)
    assert re.match(SCRATCH, shells[0]["gettempdir"])
    assert heard(result) == heard(plain_run(agent))
    assert left_in_tmp(result) == []


def wrapper(shared: Path, text: str) -> dict[str, str]:
    """A program in Claude's place; `$CLAUDE` is the real one."""
    claude = NPM / "claude/node_modules/@anthropic-ai/claude-code/bin/claude.exe"
    script = shared / "claude"
    script.write_text(f"#!/bin/sh\nCLAUDE='{claude}'\n{text}\n")
    script.chmod(0o755)
    return {"CLAUDE_BIN": str(script)}


def test_under_run_claudes_own_files_and_its_commands_go_to_the_scratch(shared: Path) -> None:
    environ = wrapper(shared, f'exec {TMPWARDEN} run --agent claude -- "$CLAUDE" "$@"')
    result = run_claude(bash("mktemp"), "--settle", "4", env=environ)
    assert result["rc"] == 0
    assert re.search(rf"{SCRATCH}/tmp\.\w+", tool_results(result))
    assert quarantined_only(result) == []


@pytest.mark.parametrize("agent", OTHERS)
def test_a_guarded_write_to_tmp_lands_in_the_scratch_or_goes_with_its_session(agent: str) -> None:
    """`tmp = true`. Codex takes a rewrite only with an allow, Qwen none at all: there the name is left, and owned."""
    command = "echo data > /tmp/guarded; ls -d /tmp/guarded"
    look = "ls -d /tmp/guarded; "
    post = f"{look} {LATER} clean --force --quiet >&2; echo cleaned; {look}"
    result = run_agent(agent, "--cmd", command, setup=f"{install(agent, '--guard')} && {LEADING}", post=post)
    before, _, after = result["post"]["out"].partition("cleaned")  # type: ignore[index]
    assert ("/tmp/guarded" in before) == (agent in ("codex", "qwen"))
    assert "/tmp/guarded" not in after
    assert agent in ("codex", "qwen") or re.search(rf"{SCRATCH}/guarded", json.dumps(result["model"]))


def test_claudes_guarded_write_to_tmp_lands_in_the_scratch() -> None:
    script = bash("echo data > /tmp/guarded; ls -d /tmp/guarded")
    result = run_claude(script, "--pre", f"{install('claude', '--guard')} && {LEADING}", "--post", "ls -d /tmp/guarded")
    assert result["post"]["rc"] != 0  # type: ignore[index]
    assert re.search(rf"{SCRATCH}/guarded", tool_results(result))
