"""The guard's word on a whole call: the most restrictive wins, every command earns the allow, a rewrite earns none."""

import pytest

from tmpwarden.guard.config import load
from tmpwarden.guard.context import Context
from tmpwarden.guard.evaluate import evaluate
from tmpwarden.model.hot import Decision, ToolCall

SCRATCH, PROJECT, HOME = "/tmp/agent-s1", "/home/u/proj", "/home/u"
RULES = load(()).rules


def look(path: str) -> tuple[str | None, bool]:
    """A disk without symlinks, on which nothing exists."""
    return path.rpartition("/")[0] or "/", False


def context(**changed: object) -> Context:
    values: dict[str, object] = {
        "scratch": SCRATCH,
        "project": PROJECT,
        "cwd": PROJECT,
        "home": HOME,
        "uid": 1000,
        "look": look,
    }
    return Context(**(values | changed))  # type: ignore[arg-type]


def said(command: str, **changed: object) -> Decision:
    return evaluate(ToolCall("claude", "shell", command=command, cwd=PROJECT), RULES, context(**changed))


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("rm -rf /tmp/agent-s1/build", "allow"),
        ("rm -rf build", "pass"),
        ("ls -l", "pass"),
    ],
)
def test_each_command_meets_the_rule_that_is_meant_for_it(command: str, verdict: str) -> None:
    assert said(command).verdict == verdict
