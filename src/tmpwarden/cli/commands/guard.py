"""`tmpwarden guard`: what the guard would say; its rules, packs and history are in cli/guarding."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable

import click

from ...agent_facts import FACTS
from ...errors import BadArgument, UnknownAgent
from ...guard.context import CallPlace, Context, context_of
from ...guard.decide.evaluate import evaluate
from ...guard.rules.rule import SESSION
from ...hooks.dialects.common import reaches_commands
from ...model.facts import Facts
from ...model.hot import DENY, Decision, ToolCall
from ...oskit.files import places
from ...oskit.files.disk import Disk
from ...oskit.proc.agent_version import numbers, program_on_path, version_of
from ...text import shown
from ..call import Answer, Call
from ..group import pass_call
from ..guarding import decisions, fencepost, packs
from ..guarding.packs import loaded, temp_roots
from ..table import Row, draw

_EXITS = {"ask": 20, "deny": 21}
_EACH = ("SAYS", "RULE", "COMMAND")


@click.group(invoke_without_command=True)
@pass_call
def command(call: Call) -> Answer:
    """Rules for agents' commands: temp files go into the session's directory, destructive commands need a yes."""
    text = click.get_current_context().get_help()
    return Answer({"help": text}, lambda: [text])


@command.command()
@click.argument("text", metavar="COMMAND")
@click.option("--cwd", metavar="DIR", help="The working directory (default: this one).")
@click.option("--scratch", metavar="DIR", help="The session's temp directory (default: $TMPDIR, if it is one).")
@click.option("--project", metavar="DIR", help="The project (default: the working directory).")
@click.option("--preset", metavar="NAME", help="Use only this preset (or a,b), without your config.")
@click.option("--agent", metavar="NAME", help="Answer in this agent's own protocol.")
@click.option(
    "--agent-version", metavar="V", help="Its version, such as 2.1.325 (default: that of the program on PATH)."
)
@click.option("--exit-code", is_flag=True, help="Exit with 20 for ask, 21 for deny (the worst one counts).")
@pass_call
def check(
    call: Call,
    text: str,
    cwd: str | None,
    scratch: str | None,
    project: str | None,
    preset: str | None,
    agent: str | None,
    agent_version: str | None,
    exit_code: bool,
) -> Answer:
    """Show what the guard decides about COMMAND: how it would run, which rule decided, and why.

    With - as COMMAND: one command a line from stdin, plain or as JSON {"command": ..., "cwd": ...}; one JSON object a
    line for each.
    """
    rules = loaded(call, preset).rules
    here = os.path.abspath(cwd or os.getcwd())
    shared = rules.target if rules.target != SESSION else ""  # as a hook has it: the TMPDIR of every session
    taken = os.path.abspath(scratch or shared or _own_scratch(call))
    root = os.path.abspath(project or here)

    def decide(command: str, where: str) -> Decision:
        context = _context(where, taken, root, agent, agent_version)
        return evaluate(ToolCall(agent or "", "shell", command=command, cwd=where), rules, context)

    if text == "-":
        questions = [_question_of(line, here) for line in sys.stdin.read().splitlines() if line.strip()]
        decisions = [(command, decide(command, where)) for command, where in questions]
        data = [_data(command, decision) for command, decision in decisions]
        status = max([_EXITS.get(decision.verdict, 0) for _, decision in decisions], default=0) if exit_code else 0
        return Answer(data, lambda: (json.dumps(one) for one in data), exit_code=status)
    decision = decide(text, here)
    status = _EXITS.get(decision.verdict, 0) if exit_code else 0
    return Answer(_data(text, decision), lambda: _lines(call, decision), exit_code=status)


def _question_of(line: str, here: str) -> tuple[str, str]:
    """A line of `guard check -`: the command, and where it would run."""
    if line[:1] != "{" or line[1:].lstrip()[:1] != '"':
        return line, here  # { ls; } is a command
    try:
        question = json.loads(line)
        command, cwd = question["command"], question.get("cwd") or here
        if isinstance(command, str) and isinstance(cwd, str):
            return command, os.path.abspath(cwd)
    except (ValueError, KeyError):
        pass
    raise BadArgument(f"not a command: {shown(line[:80])}", hint='write {"command": "..."}, or the command alone')


def _own_scratch(call: Call) -> str:
    """Outside a session there is none, so one is assumed."""
    temp_dir = os.environ.get("TMPDIR", "")
    if f"/tmpwarden-{places.uid()}/" in temp_dir:
        return os.path.abspath(temp_dir)
    assumed = f"/tmp/tmpwarden-{places.uid()}/session"
    call.warn(f"no session here: using {assumed} as its temp directory (--scratch DIR names another)")
    return assumed


def _context(cwd: str, scratch: str, project: str, agent: str | None, version: str | None) -> Context:
    """As a hook of this agent would have it; its version is asked of the program that PATH leads to."""
    facts = FACTS.get(agent) if agent is not None else None
    if agent is not None and facts is None:
        raise UnknownAgent(shown(agent), hint=f"there are {', '.join(FACTS)}")
    place = CallPlace(
        scratch=scratch,
        is_tmpdir=facts is None or reaches_commands(facts) or os.environ.get("TMPDIR") == scratch,
        project=project,
        cwd=cwd,
        home=places.home(),
        uid=places.uid(),
        environ=os.environb,
        tmp_roots=temp_roots(),
    )
    return context_of(place, facts, facts["answers"] if facts else ("ask", "rewrite"), _version(facts, version), Disk())


def _version(facts: Facts | None, text: str | None) -> tuple[int, ...]:
    if text is not None and not numbers(text):
        raise BadArgument(f"{shown(text)} is not a version", hint="it looks like 2.1.325")
    if text is not None or facts is None:
        return numbers(text or "")
    return version_of(facts, os.environb, {}, lambda: program_on_path(facts))


def _data(text: str, decision: Decision) -> dict[str, object]:
    return {
        "command": text,
        "rewritten": decision.rewritten,
        "decision": decision.verdict,
        "reason": decision.reason,
        **({"basis": decision.basis} if decision.basis else {}),
        "rule": decision.rule or None,
        "commands": [
            {"argv": list(argv), "decision": verdict, "rule": rule or None} for argv, verdict, rule in decision.commands
        ],
    }


def _lines(call: Call, decision: Decision) -> Iterable[str]:
    because = f": {shown(decision.reason)}" if decision.reason else ""
    yield f"{decision.verdict}{because}"
    if decision.rewritten is not None:
        yield f"{'instead' if decision.verdict == DENY else 'runs as'}: {shown(decision.rewritten)}"
    rows = [
        Row((verdict, rule or "-", shown(" ".join(argv)) if argv else "(no command)"))
        for argv, verdict, rule in decision.commands
    ]
    if rows:
        yield ""
        yield from draw(_EACH, rows, for_a_person=call.for_a_person)


for _below in (packs.verify, packs.packs, decisions.log, decisions.stats, fencepost.take_over):
    command.add_command(_below)
