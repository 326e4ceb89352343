"""The agents' file tools: never led, judged everywhere; a fresh name in /tmp becomes the session's."""

import pytest

from support.guarding import context_with
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.model.hot import Decision, ToolCall

RULES = load((), preset="sandbox").rules
EXISTING = {"/tmp/old.txt", "/tmp/agent-s1/new.txt"}


def look(path: str) -> tuple[str | None, bool]:
    parent = path.rpartition("/")[0]
    if parent.startswith("/tmp/agent-s1/link"):
        parent = "/etc" + parent[len("/tmp/agent-s1/link") :]
    return parent or "/", path in EXISTING


def said(tool: str, *paths: str, **changed: object) -> Decision:
    values: dict[str, object] = {
        "scratch": "/tmp/agent-s1",
        "project": "/home/u/proj",
        "cwd": "/home/u/proj",
        "home": "/home/u",
        "uid": 1000,
        "look": look,
        "own": ("/tmp/claude-1000", "/home/u/.claude"),
    }
    context = context_with(**(values | changed))  # type: ignore[arg-type]
    return evaluate(ToolCall("claude", tool, paths=paths, cwd="/home/u/proj"), RULES, context)


@pytest.mark.parametrize(
    ("tool", "path", "stated"),
    [
        ("write", "/tmp/a", ("/tmp/a",)),
        ("write", "/tmp/a/b/c", ("/tmp/a",)),
        ("edit", "/tmp/a", ("/tmp/a",)),
        ("notebook", "/tmp/a.ipynb", ("/tmp/a.ipynb",)),
        ("patch", "/tmp/a", ("/tmp/a",)),
        ("read", "/tmp/new.txt", ()),
        ("write", "/tmp/old.txt", ()),
        ("write", "/tmp/agent-s1/a", ()),
        ("write", "/tmp/../etc/x", ()),
        ("write", "/tmp/claude-1000/p/s/scratchpad/x", ()),
        ("write", "/tmp/tmpwarden-1000/0a1b2c3d/x", ()),
    ],
)
def test_a_fresh_name_is_stated_and_no_path_is_led(tool: str, path: str, stated: tuple[str, ...]) -> None:
    decision = said(tool, path)
    assert (decision.fresh, decision.rewritten) == (stated, None)


@pytest.mark.parametrize(
    ("tool", "path", "verdict"),
    [
        ("write", "/tmp/a", "pass"),
        ("write", "/tmp/agent-s1/a", "pass"),
        ("write", "src/x.py", "pass"),
        ("write", "/home/u/.claude/projects/p/memory/MEMORY.md", "pass"),
        ("write", "/tmp/claude-1000/p/s/scratchpad/x", "pass"),
        ("write", "/etc/hosts", "ask"),
        ("write", "~/.bashrc", "ask"),
        ("write", "../other/x", "ask"),
        ("write", "/home/u/proj/../other/x", "ask"),
        ("write", "/home/u/project2/x", "ask"),
        ("write", "/tmp/agent-s1/link", "ask"),
        ("write", "/tmp/agent-s1/link/x", "ask"),
        ("edit", "/etc/hosts", "ask"),
        ("notebook", "/etc/x.ipynb", "ask"),
        ("patch", "/etc/hosts", "ask"),
        ("read", "/etc/hosts", "pass"),
    ],
)
def test_a_file_tool_is_judged_by_where_its_path_leads(tool: str, path: str, verdict: str) -> None:
    assert said(tool, path).verdict == verdict


def test_of_several_paths_the_worst_decides() -> None:
    assert said("patch", "src/a", "/etc/b", "src/c").verdict == "ask"
    assert said("patch", "src/a", "src/c").verdict == "pass"


def test_a_name_that_exists_asks_unless_it_is_the_sessions() -> None:
    assert said("write", "/tmp/old.txt").verdict == "ask"
    assert said("write", "/tmp/old.txt", owns=lambda path: path == "/tmp/old.txt").verdict == "pass"


def test_an_agent_that_cannot_ask_is_denied() -> None:
    decision = said("write", "/etc/hosts", has_ask=False, variables={"TMPDIR": "/tmp/agent-s1"})
    assert decision.verdict == "deny"
    assert "Instead: a file in the project or in $TMPDIR." in decision.reason
    assert "TMPDIR" not in said("write", "/etc/hosts", has_ask=False, scratch=None).reason


def test_a_tool_without_paths_is_none_of_ours() -> None:
    assert said("other").verdict == "pass"
