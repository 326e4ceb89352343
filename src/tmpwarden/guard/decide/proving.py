"""Rules that bring their own proof: a rule must hold back the lines in its `matches`, and let those in `spares` go."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ...model.hot import ASK, DENY, ToolCall
from ..context import AgentFacts, CallPlace, Context, Probes
from ..rules.config import Loaded, Mistake, Source
from ..rules.decode import by_program, wild_of
from ..rules.rule import Rules
from .evaluate import evaluate

_KINDS = ("commands", "arguments", "redirects")
_PROJECT = "/home/u/proj"  # where the lines are judged: a project, a home, a scratch, and no file anywhere


def unproven(loaded: Loaded) -> Iterator[Mistake]:
    """Remarks about lines of which a rule says something else than it claims."""
    for source in loaded.sources:
        guard = source.document.get("guard")
        rules = guard if isinstance(guard, dict) else {}
        for kind in _KINDS:
            for index, rule in enumerate(rules.get(kind, [])):
                if isinstance(rule, dict):
                    label = f"{source.name}:{rule.get('id') or f'{kind}[{index}]'}"
                    yield from _of_rule(loaded, source, f"guard.{kind}[{index}]", label, rule)


def _of_rule(loaded: Loaded, source: Source, where: str, label: str, rule: dict[str, object]) -> Iterator[Mistake]:
    alone = _alone(loaded.rules, label)
    if not alone.rules and not alone.rows:
        return  # switched off
    for key, is_meant in (("matches", True), ("spares", False)):
        lines = rule.get(key, [])
        for line in lines if isinstance(lines, list) else ():
            if _speaks(alone, label, str(line)) is not is_meant:
                words = "does not cover" if is_meant else "covers"
                yield source.mistake(f"{where}.{key}", f"the rule {words} {line!r}", fatal=False)


def _alone(rules: Rules, label: str) -> Rules:
    """The one rule, as if there were no other that might be asked first."""
    rows = [row for row in map(json.loads, rules.rows) if row["label"] == label]
    return Rules(
        tuple(rule for rule in rules.rules if rule.label == label),
        rows=tuple(map(json.dumps, rows)),
        commands=by_program(rows),
        wild=wild_of(rows),
        trusted=rules.trusted,
        protected=rules.protected,
    )


def _speaks(rules: Rules, label: str, line: str) -> bool:
    decision = evaluate(ToolCall("", "shell", command=line, cwd=_PROJECT), rules, _context())
    return any(rule == label and verdict in (ASK, DENY) for _, verdict, rule in decision.commands)


def _context() -> Context:
    place = CallPlace(scratch="/tmp/tmpwarden-1000/0123abcd", project=_PROJECT, cwd=_PROJECT, home="/home/u", uid=1000)
    return Context(place, Probes(_look), AgentFacts())


_OF_INSIDE = ("echo hi > src/a", "make test", "rm -rf src", "git reset --hard", "cp src/a /srv/a")
_OF_NEVER = ("cat {0}/x", "cp -r {1} copy", "grep -r word {1}", "python3 -c \"open('{0}/x')\"", "du -sh {1}")


def examples(rules: Rules) -> Iterator[tuple[str, str, str, str]]:
    """What `inside` and `never` make of five lines each: key, line, decision, and what an allow rests on."""
    lines = [("inside", line) for line in _OF_INSIDE] if rules.trusts_inside else []
    for path in rules.never[:1]:
        lines += [("never", line.format(path, path.rpartition("/")[0] or "/")) for line in _OF_NEVER]
    for key, line in lines:
        decision = evaluate(ToolCall("", "shell", command=line, cwd=_PROJECT), rules, _context())
        yield key, line, decision.verdict, decision.basis


def _look(path: str) -> tuple[str, bool]:
    return path.rpartition("/")[0] or "/", False
