"""Cases of our own, of the kinds of redirect.jsonl: written down from the design before the guard was asked."""

import re
from pathlib import Path

import pytest

from support.empty_disk import look
from support.guarding import context_with
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.guard.rules.rule import Rules
from tmpwarden.model.hot import Decision, ToolCall

RULES = load((), preset="sandbox").rules
LEADING = load((), preset="claude").rules
SCRATCH = "/tmp/agent-s1"


def rows(name: str) -> list[tuple[str, str]]:
    lines = (Path(__file__).parents[1] / "cases" / name).read_text().splitlines()
    return [tuple(line.split("\t", 1)) for line in lines if line and not line.startswith("# ")]  # type: ignore[misc]


def judged(command: str, variables: dict[str, str] | None = None, rules: Rules = RULES) -> Decision:
    context = context_with(
        scratch=SCRATCH, project="/home/u/proj", cwd="/home/u/proj", home="/home/u", uid=1000, look=look,
        own=("/tmp/claude-1000",), variables=variables,
    )  # fmt: skip
    return evaluate(ToolCall("claude", "shell", command=command, cwd="/home/u/proj"), rules, context)


def test_the_verdict_is_the_one_that_was_written_down() -> None:
    found = [(word, judged(command).verdict, command) for word, command in rows("verdicts.tsv")]
    assert len(found) > 800
    assert [row for row in found if row[1] not in ({"allow", "pass"} if row[0] == "go" else {row[0]})] == []


@pytest.mark.parametrize("kind", ["all", "none", "to"])
def test_what_runs_is_what_was_written_down(kind: str) -> None:
    wrong = []
    for word, row in rows("rewrites.tsv"):
        if word != kind:
            continue
        command, _, to = row.partition(" => ")
        expected = {"all": everywhere(row), "none": None, "to": to.strip() or None}[kind]
        got = judged(command if kind == "to" else row, rules=LEADING).rewritten
        if got != expected:
            wrong.append((row, got))
    assert wrong == []


def everywhere(command: str) -> str:
    """Every /tmp that ends where a component ends; not those of another machine."""
    command = command.replace("/./tmp", "/tmp")
    return re.sub(r"(?<![hc]:)/tmp(?![\w.-])", SCRATCH, command)


def test_nothing_of_this_is_ever_allowed() -> None:
    lines = (Path(__file__).parents[1] / "cases" / "never_allowed.txt").read_text().splitlines()
    commands = [line for line in lines if not line.startswith("# ")]
    assert len(commands) > 300
    assert [command for command in commands if judged(command, {"TMPDIR": SCRATCH}).verdict == "allow"] == []


def test_there_are_more_than_three_hundred_of_them() -> None:
    assert len(rows("rewrites.tsv")) > 400
