"""redirect.jsonl: commands with the rewrite and the verdict that people who guard agents for a living would give."""

import json
from pathlib import Path

import pytest

from support.guarding import context_with
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.model.hot import Decision, ToolCall

CASES = [json.loads(line) for line in (Path(__file__).parents[1] / "cases" / "redirect.jsonl").read_text().splitlines()]
RULES = load((), preset="claude").rules
SIX = {"rm", "rmdir", "mkdir", "touch", "mv", "cp", "cd"}


class Told:
    """A disk on which only what the case says exists."""

    def __init__(self, precondition: str) -> None:
        link, _, self.target = (part.strip() for part in precondition.partition("->"))
        self.name = link.removesuffix(" exists")

    def look(self, path: str) -> tuple[str | None, bool]:
        parent = path.rpartition("/")[0]
        if self.target and (parent == self.name or parent.startswith(self.name + "/")):
            parent = self.target + parent[len(self.name) :]
        return parent or "/", path == self.name


def judged(case: dict[str, str]) -> Decision:
    context = context_with(
        scratch="/tmp/agent-s1",
        project="/home/u/proj",
        cwd=case["cwd"],
        home="/home/u",
        uid=1000,
        look=Told(case.get("precondition", "")).look,
        tmp_roots=("/tmp", "/private/tmp") if case.get("platform") == "darwin" else ("/tmp",),
    )
    return evaluate(ToolCall("claude", "shell", command=case["command"], cwd=case["cwd"]), RULES, context)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["command"][:60])
def test_the_guard_says_what_the_case_expects(case: dict[str, str]) -> None:
    decision = judged(case)
    if case["verdict"] == "go":
        assert decision.verdict == ("allow" if _is_named_throughout(decision) else "pass"), decision.reason
    else:
        assert decision.verdict == case["verdict"], decision.reason


def _is_named_throughout(decision: Decision) -> bool:
    verdicts = [verdict for argv, verdict, _ in decision.commands if argv]
    return bool(verdicts) and all(verdict == "allow" for verdict in verdicts)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["action"] in ("rewrite", "leave")], ids=lambda case: case["command"][:60]
)
def test_the_command_that_runs_is_the_one_that_the_case_expects(case: dict[str, str]) -> None:
    assert judged(case).rewritten == case.get("rewritten")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["command"][:60])
def test_only_the_commands_that_the_preset_names_are_ever_allowed(case: dict[str, str]) -> None:
    for argv, verdict, _ in judged(case).commands:
        assert verdict != "allow" or argv[0].rpartition("/")[2] in SIX
