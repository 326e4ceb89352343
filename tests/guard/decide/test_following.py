"""What a session led into its scratch is found there: by file tools, and by lines that look into /tmp."""

import pytest

from support.guarding import context_with
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.hooks.dialects.common import load as dialect
from tmpwarden.model.hot import Decision, ToolCall

LEADING = load((), preset="claude").rules
S = "/tmp/agent-s1"
LED = (f"{S}/t.log", f"{S}/d", "/tmp/mine")


def said(call: ToolCall, rules: object = LEADING, **changed: object) -> Decision:
    def look(path: str) -> tuple[str, bool]:
        return path.rpartition("/")[0] or "/", path in LED

    values: dict[str, object] = {
        "scratch": S, "project": "/home/u/proj", "cwd": "/home/u/proj", "home": "/home/u", "uid": 1000, "look": look,
        "entries": lambda path: ("d", "t.log") if path == S else (),
    }  # fmt: skip
    return evaluate(call, rules, context_with(**(values | changed)))  # type: ignore[arg-type]


def tool(kind: str, given: dict[str, object]) -> ToolCall:
    paths = tuple(str(given[key]) for key in ("file_path", "path") if key in given)
    return ToolCall("claude", kind, paths=paths, tool_input=given, name="X", cwd="/home/u/proj")


@pytest.mark.parametrize(
    ("kind", "given", "becomes"),
    [
        ("read", {"file_path": "/tmp/t.log", "limit": 5}, {"file_path": f"{S}/t.log", "limit": 5}),
        ("read", {"file_path": "/tmp/d/sub/a"}, {"file_path": f"{S}/d/sub/a"}),
        ("search", {"pattern": "/tmp/t.log", "path": "/tmp/t.log"}, {"pattern": "/tmp/t.log", "path": f"{S}/t.log"}),
        ("list", {"pattern": "*.py", "path": "/tmp/d"}, {"pattern": "*.py", "path": f"{S}/d"}),
        ("list", {"pattern": "/tmp/d/*.py"}, {"pattern": f"{S}/d/*.py"}),
        ("read", {"file_path": "/tmp/mine"}, None),
        ("read", {"file_path": "/tmp/other"}, None),
        ("read", {"file_path": "/tmp/t.log2"}, None),
        ("read", {"file_path": "/home/u/tmp/t.log"}, None),
        ("write", {"file_path": "/tmp/t.log"}, None),
        ("edit", {"file_path": "/tmp/t.log"}, None),
    ],
)
def test_reading_tools_follow_a_name_that_was_led(
    kind: str, given: dict[str, object], becomes: dict[str, object] | None
) -> None:
    call = tool(kind, given)
    decision = said(call)
    answer = dialect("claude").decide("PreToolUse", decision, call)
    specific = answer["hookSpecificOutput"] if answer else {}
    assert specific.get("updatedInput") == becomes  # type: ignore[attr-defined]
    assert "permissionDecision" not in specific or becomes is None  # it grants nothing
    if becomes is not None:
        assert f"{S}/" in str(specific["additionalContext"])  # type: ignore[index]


def test_nothing_follows_where_nothing_is_led() -> None:
    call = tool("read", {"file_path": "/tmp/t.log"})
    assert said(call, load(()).rules).inputs == {}
    assert said(call, keeps_rewrite=False).inputs == {}


@pytest.mark.parametrize(
    "command",
    [
        "ls /tmp",
        "ls -la /tmp/",
        "cat /tmp/*.log",
        "cd /tmp && ls",
        "find /tmp -name x",
        "ls /tmp/{t.log,x}",
        "cat /tmp/t.*",
    ],
)
def test_a_line_that_looks_into_tmp_is_told_where_the_sessions_names_are(command: str) -> None:
    decision = said(ToolCall("claude", "shell", command=command, cwd="/home/u/proj"))
    assert decision.rewritten is None
    assert decision.places == {"/tmp/d": f"{S}/d", "/tmp/t.log": f"{S}/t.log"}


@pytest.mark.parametrize("command", ["ls /home/u/tmp", "ls /tmpfile", "ls", "cat /tmp/mine", "echo /var/tmp"])
def test_other_lines_are_told_nothing(command: str) -> None:
    assert said(ToolCall("claude", "shell", command=command, cwd="/home/u/proj")).places == {}
