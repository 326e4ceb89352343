"""The agents' file tools: led into the scratch where the agent takes that, judged everywhere."""

import pytest

from tmpwarden.guard.context import Context
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
    context = Context(**(values | changed))  # type: ignore[arg-type]
    return evaluate(ToolCall("claude", tool, paths=paths, cwd="/home/u/proj"), RULES, context)


@pytest.mark.parametrize(
    ("tool", "path", "becomes"),
    [
        ("write", "/tmp/a", "/tmp/agent-s1/a"),
        ("notebook", "/tmp/a.ipynb", "/tmp/agent-s1/a.ipynb"),
        ("read", "/tmp/new.txt", "/tmp/agent-s1/new.txt"),
        ("read", "/tmp/old.txt", None),
        ("write", "/tmp/agent-s1/a", None),
        ("write", "/tmp/../etc/x", None),
        ("write", "/var/tmp/x", None),
        ("write", "src/x.py", None),
        ("write", "/tmp/claude-1000/p/s/scratchpad/x", None),
        ("edit", "/tmp/a", None),
        ("patch", "/tmp/a", None),
    ],
)
def test_a_path_below_tmp_is_led_into_the_scratch(tool: str, path: str, becomes: str | None) -> None:
    assert said(tool, path).paths == (becomes and (becomes,))


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


def test_an_edit_follows_its_file_where_the_agent_takes_a_new_path() -> None:
    assert said("edit", "/tmp/new.txt", rewrites_edits=True).paths == ("/tmp/agent-s1/new.txt",)
    assert said("edit", "/tmp/old.txt", rewrites_edits=True).paths is None


def test_an_agent_that_drops_rewrites_is_judged_by_what_it_sent_and_told_where_to_write() -> None:
    decision = said("write", "/tmp/a", keeps_rewrite=False, applies_rewrite_without_allow=False)
    assert (decision.verdict, decision.paths) == ("ask", None)
    assert "/tmp/agent-s1/a" in decision.reason


def test_an_agent_that_cannot_ask_is_denied() -> None:
    assert said("write", "/etc/hosts", has_ask=False).verdict == "deny"


def test_a_tool_without_paths_is_none_of_ours() -> None:
    assert said("other").verdict == "pass"
