"""`[[guard.tools]]`: tools by name, in the guard, in the hook, and in the settings that make the agent call it."""

import json
import sys
import uuid
from pathlib import Path

import pytest

from hooks.calling import hook, said
from support import forked
from support.empty_disk import look
from support.guarding import context_with
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.guard.rules.verify import verify
from tmpwarden.model.hot import ToolCall
from tmpwarden.setup import apply, runtime

RULES = """
[[guard.tools]]
tool = "mcp__legacy_*"
decision = "deny"
description = "That server is gone."
alternative = "mcp__docs_search"

[[guard.tools]]
tool = "mcp__*|WebFetch"
decision = "ask"

[[guard.tools]]
tool = "mcp__docs_search"
decision = "allow"

[[guard.tools]]
tool = "Glob"
decision = "allow"
"""


def verdict(tmp_path: Path, tool: str, name: str, paths: tuple[str, ...] = (), **given: bool) -> str:
    config = tmp_path / "config.toml"
    config.write_text(RULES + '[[guard.tools]]\ntool = "Write"\ndecision = "ask"\n')
    context = context_with(scratch=None, project="/p", cwd="/p", home="/h", uid=1, look=look, **given)  # type: ignore[arg-type]
    call = ToolCall("claude", tool, name=name, paths=paths, cwd="/p")
    return evaluate(call, load((str(config),)).rules, context).verdict


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("mcp__legacy_x", "deny"),
        ("mcp__slack_send", "ask"),
        ("mcp__docs_search", "ask"),  # ask comes before allow
        ("WebFetch", "ask"),
        ("WebSearch", "pass"),
        ("Glob", "allow"),
        ("glob", "pass"),
    ],
)
def test_the_strictest_rule_that_names_a_tool_speaks(tmp_path: Path, name: str, wanted: str) -> None:
    assert verdict(tmp_path, "other", name) == wanted


def test_a_tool_with_paths_is_judged_by_both(tmp_path: Path) -> None:
    assert verdict(tmp_path, "write", "Write", ("/p/a",)) == "ask"
    assert verdict(tmp_path, "read", "Read", ("/p/a",)) == "pass"


def test_an_agent_that_cannot_ask_is_told_no(tmp_path: Path) -> None:
    assert verdict(tmp_path, "other", "WebFetch", has_ask=False) == "deny"


def test_a_rule_about_the_shell_by_its_name_is_pointed_out(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[[guard.tools]]\ntool = "Bash"\ndecision = "deny"\n')
    assert ["judged by its commands" in str(mistake) for mistake in verify((str(config),)).mistakes] == [True]


def test_the_hook_answers_about_tools_that_rules_name_and_about_no_other(own_world: Path) -> None:
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(RULES)
    session = str(uuid.uuid4())

    def answer(name: str) -> object:
        payload = {"session_id": session, "cwd": "/", "tool_name": name, "tool_input": {"url": "https://x"}}
        done = hook("claude", "PreToolUse", {**payload, "hook_event_name": "PreToolUse"})
        return said(done)["hookSpecificOutput"]["permissionDecision"] if done.stdout.strip() else None  # type: ignore[index]

    assert [answer(name) for name in ("mcp__legacy_x", "WebFetch", "WebSearch")] == ["deny", "ask", None]
    audit = own_world / "state" / "tmpwarden" / "guard" / "audit.jsonl"
    told = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [(one["tool"], one["decision"]) for one in told] == [("mcp__legacy_x", "deny"), ("WebFetch", "ask")]
    assert "https://x" in told[1]["before"]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_compile", lambda *_: None)


def test_an_install_makes_the_agent_call_us_for_the_tools_that_rules_name(own_world: Path, quick: None) -> None:
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(RULES)
    (own_world / "home" / ".claude").mkdir()
    apply.install("claude", guard=True)
    settings = json.loads((own_world / "home" / ".claude" / "settings.json").read_text())
    matcher = settings["hooks"]["PreToolUse"][0]["matcher"].split("|")
    assert {"Bash", "Write", "mcp__legacy_.*", "mcp__.*", "WebFetch", "Glob"} <= set(matcher)


BROKEN = "[guard]\nask = [\n  'x',\n  3,\n]\n"


def test_a_broken_first_configuration_is_told_at_install_in_status_by_doctor_and_in_the_first_session(
    own_world: Path, quick: None
) -> None:
    config = own_world / "config" / "tmpwarden" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(BROKEN)
    (own_world / "home" / ".claude").mkdir()
    where = f"{config}:4: guard.ask[1]"
    done = apply.install("claude", guard=True)
    assert any(where in line and "only the preset sandbox is used" in line for line in done.advice)

    def told(*args: str) -> str:
        command = [sys.executable, "-m", "tmpwarden", *args, "--json"]
        return forked.run(command, capture_output=True, text=True, check=False, timeout=60).stdout

    assert any(where in warning for warning in json.loads(told("status"))["warnings"])
    diagnoses = json.loads(told("doctor", "--no-probe"))["data"]["diagnoses"]
    assert [where in one["summary"] for one in diagnoses if one["check"] == "guard"] == [True]
    payload = {"session_id": str(uuid.uuid4()), "hook_event_name": "SessionStart", "cwd": "/", "source": "startup"}
    assert where in str(said(hook("claude", "SessionStart", payload)).get("systemMessage"))
