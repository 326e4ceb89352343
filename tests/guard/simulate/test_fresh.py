"""$(mktemp) is a fresh name in TMPDIR: what is done with it is inside, and never more than passed."""

import pytest

from support.empty_disk import look
from support.guarding import context_with
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.model.hot import ToolCall

RULES = load((), preset="sandbox").rules
INSIDE = [
    'D=$(mktemp -d) && cd "$D" && rm -rf x && echo hi > y',
    'F=$(mktemp); echo x > "$F"; cat $F; rm -f "$F"',
    'T=$(mktemp -d -t foo.XXXXXX); cp a "$T/b"; rm -rf "$T"',
    "D=$(mktemp -d); rm -rf $D",
    'rm -rf "$(mktemp -d)/x"',
]
ELSEWHERE = [
    "TMPDIR=/etc; D=$(mktemp -d); rm -rf $D",
    'D=$(mktemp -d -p /etc); rm -rf "$D"',
    "mktemp() { echo /etc; }; D=$(mktemp -d); rm -rf $D",
    "PATH=/x:$PATH; D=$(mktemp -d); rm -rf $D",
    "D=$(mktemp -u); rm -rf $D",
    "D=$(mktemp -d; echo /etc); rm -rf $D",
    "D=$(mktemp $X); rm -rf $D",
    'D=$(mktemp -d)/../../../etc; rm -rf "$D"',
]


def said(command: str, variables: dict[str, str]) -> str:
    context = context_with(
        scratch="/tmp/agent-s1", project="/p", cwd="/p", home="/h", uid=1000, look=look, variables=variables
    )
    return evaluate(ToolCall("claude", "shell", command=command, cwd="/p"), RULES, context).verdict


@pytest.mark.parametrize("command", INSIDE)
def test_a_fresh_name_is_inside_where_tmpdir_is_known(command: str) -> None:
    assert said(command, {"TMPDIR": "/tmp/agent-s1"}) == "pass"
    assert said(command, {}) == "ask"


@pytest.mark.parametrize("command", ELSEWHERE)
def test_what_may_be_another_name_is_asked_about(command: str) -> None:
    assert said(command, {"TMPDIR": "/tmp/agent-s1"}) in ("ask", "deny")
