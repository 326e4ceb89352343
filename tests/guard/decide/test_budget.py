"""A line that is built to be slow is asked about, soon, and with the same answer under load."""

import pytest

from support.empty_disk import look
from support.guarding import context_with
from support.work import calls_of
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.nouns.analysis import MAX_STEPS, Budget
from tmpwarden.guard.rules.config import load
from tmpwarden.guard.shell.syntax import Unreadable
from tmpwarden.model.hot import Decision, ToolCall

MOST_CALLS = 1_500_000  # below half a second on a small machine
RULES = load((), preset="sandbox").rules
LONG = {
    "moves": "mv a b;" * 3000,
    "removes": "rm -rf /tmp/agent-s1/a; " * 3000,
    "copies": "cp -r /tmp/agent-s1/a /tmp/agent-s1/b; " * 1500,
    "loops in loops": "for i in 1 2 3 4 5 6 7 8; do " * 4 + "mv a b" + "; done" * 4,
    "assignments": "A=a; " * 15000,
    "substitutions": "cat <<E\n" + "x $(a) `b`\n" * 4000 + "E",
    "branches": "case x in " + "a) rm b;; " * 5000 + "esac",
    "pipes": "a|" * 15000 + "a",
    "names in /tmp": "; ".join(f"cat /tmp/a{at} > /tmp/b{at}" for at in range(6000)),
}


def judged(command: str) -> Decision:
    context = context_with(scratch="/tmp/agent-s1", project="/p", cwd="/p", home="/h", uid=1000, look=look)
    return evaluate(ToolCall("claude", "shell", command=command, cwd="/p"), RULES, context)


@pytest.mark.parametrize("name", LONG)
def test_past_the_budget_the_answer_is_ask_after_bounded_work(name: str) -> None:
    """Counted, not timed: a neighbour on the same core makes any clock slower."""
    decisions: list[Decision] = []
    work = calls_of(lambda: decisions.append(judged(LONG[name])))
    assert work < MOST_CALLS
    (decision,) = decisions
    assert decision.verdict in ("ask", "deny")  # what was judged before it ran out may have been worse
    assert decision.verdict == "deny" or "too m" in decision.reason


def test_what_people_write_stays_far_below() -> None:
    budget = Budget()
    assert budget.left == MAX_STEPS
    line = (
        "cd src && grep -rn TODO . | head -20 > /tmp/todo.txt; for f in a b c; do rm -rf /tmp/$f && mkdir /tmp/$f; done"
    )
    assert judged(line).verdict == "pass"
    with pytest.raises(Unreadable):
        budget.spend(MAX_STEPS + 1)
