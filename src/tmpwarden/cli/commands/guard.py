"""`tmpwarden guard check | verify | log`: what the guard would say, what is wrong in its rules, what it said."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import deque
from collections.abc import Iterable

import click

from ...agent_facts import FACTS
from ...errors import BadArgument, BadConfig, UnknownAgent
from ...guard.context import Context, context_of
from ...guard.decide.evaluate import evaluate
from ...guard.log.history import Entry, entries, is_wanted
from ...guard.rules.choosing import NO_PRESET, preset_names
from ...guard.rules.compiled import config_files
from ...guard.rules.config import Loaded, load
from ...guard.rules.verify import verify as verified
from ...hooks.dialects.common import reaches_commands
from ...model.facts import Facts
from ...model.hot import DENY, Decision, ToolCall
from ...oskit.files import places
from ...oskit.files.disk import Disk
from ...oskit.proc.agent_version import numbers, program_on_path, version_of
from ...text import shown
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import age
from ..table import Column, Row, draw

_EXITS = {"ask": 20, "deny": 21}
_EACH = (Column("SAYS"), Column("RULE"), Column("COMMAND"))
_LOG = (Column("TIME"), Column("AGENT"), Column("TOOL"), Column("SAID"), Column("RULE"), Column("INPUT"))


@click.group()
def command() -> None:
    """Temp writes stay in the scratch; destructive commands run freely only there."""


@command.command()
@click.argument("text", metavar="COMMAND")
@click.option("--cwd", metavar="DIR", help="Where it would run. Default: here.")
@click.option("--scratch", metavar="DIR", help="The session's scratch. Default: $TMPDIR if that is one.")
@click.option("--project", metavar="DIR", help="The project. Default: the working directory.")
@click.option("--preset", metavar="NAME", help="Judge by this preset alone, without your config.")
@click.option("--agent", metavar="NAME", help="Answer as this agent would be answered.")
@click.option("--agent-version", metavar="V", help="Its version, as 2.1.325. Default: that of the program on PATH.")
@click.option("--exit-code", is_flag=True, help="Exit with 20 for ask, 21 for deny; of several the worst.")
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
    """What the guard says about COMMAND: how it would run, each command in it, the rule that decided, and why.

    With - as COMMAND: one command a line from stdin, plain or as JSON {"command": ..., "cwd": ...}; one JSON object a
    line for each.
    """
    loaded = _loaded(call, preset)
    here = os.path.abspath(cwd or os.getcwd())
    taken = os.path.abspath(scratch or _own_scratch(call))
    root = os.path.abspath(project or here)

    def said(command: str, where: str) -> Decision:
        context = _context(where, taken, root, agent, agent_version)
        return evaluate(ToolCall(agent or "", "shell", command=command, cwd=where), loaded.rules, context)

    if text == "-":
        asked = [_asked(line, here) for line in sys.stdin.read().splitlines() if line.strip()]
        told = [(command, said(command, where)) for command, where in asked]
        data = [_data(command, decision) for command, decision in told]
        status = max([_EXITS.get(decision.verdict, 0) for _, decision in told], default=0) if exit_code else 0
        return Answer(data, lambda: (json.dumps(one) for one in data), exit_code=status)
    decision = said(text, here)
    status = _EXITS.get(decision.verdict, 0) if exit_code else 0
    return Answer(_data(text, decision), lambda: _lines(call, decision), exit_code=status)


def _asked(line: str, here: str) -> tuple[str, str]:
    """A line of `guard check -`: the command, and where it would run."""
    if not line.startswith("{"):
        return line, here
    try:
        told = json.loads(line)
        return str(told["command"]), os.path.abspath(str(told.get("cwd") or here))
    except (ValueError, KeyError) as error:
        raise BadArgument(f"not a command: {shown(line[:80])}", hint='a line is {"command": "..."} or plain') from error


def _loaded(call: Call, preset: str | None) -> Loaded:
    if preset is not None and preset not in (*preset_names(), NO_PRESET):
        raise BadArgument(f"there is no preset {shown(preset)}", hint=f"there are {', '.join(preset_names())}")
    loaded = load(() if preset else _files(call), preset=preset, temp_roots=_temp_roots())
    for mistake in loaded.mistakes:
        call.warn(str(mistake))
    return loaded


def _files(call: Call) -> tuple[str, ...]:
    if call.config_file is None:
        return config_files(places.config_dir())
    if not os.path.exists(call.config_file):
        raise BadConfig(shown(call.config_file), "there is no such file")
    return (call.config_file,)


def _temp_roots() -> tuple[str, ...]:
    """/tmp, by both of its names where it has two (macOS)."""
    return ("/tmp", "/private/tmp") if sys.platform == "darwin" else ("/tmp",)


def _own_scratch(call: Call) -> str:
    """Outside a session there is none, so one is assumed."""
    told = os.environ.get("TMPDIR", "")
    if f"/tmpwarden-{places.uid()}/" in told:
        return os.path.abspath(told)
    assumed = f"/tmp/tmpwarden-{places.uid()}/session"
    call.warn(f"no session here: {assumed} is taken as the scratch (--scratch DIR names another)")
    return assumed


def _context(cwd: str, scratch: str, project: str, agent: str | None, version: str | None) -> Context:
    """As a hook of this agent would have it; its version is asked of the program that PATH leads to."""
    facts = FACTS.get(agent) if agent is not None else None
    if agent is not None and facts is None:
        raise UnknownAgent(shown(agent), hint=f"there are {', '.join(FACTS)}")
    return context_of(
        facts,
        facts["answers"] if facts else ("ask", "rewrite"),
        _version(facts, version),
        scratch=scratch,
        is_tmpdir=facts is None or reaches_commands(facts) or os.environ.get("TMPDIR") == scratch,
        project=project,
        cwd=cwd,
        home=places.home(),
        uid=places.uid(),
        disk=Disk(),
        environ=os.environb,
        tmp_roots=_temp_roots(),
    )


def _version(facts: Facts | None, told: str | None) -> tuple[int, ...]:
    if told is not None and not numbers(told):
        raise BadArgument(f"{shown(told)} is not a version", hint="it looks like 2.1.325")
    if told is not None or facts is None:
        return numbers(told or "")
    return version_of(facts, os.environb, {}, lambda: program_on_path(facts))


def _data(text: str, decision: Decision) -> dict[str, object]:
    return {
        "command": text,
        "rewritten": decision.rewritten,
        "decision": decision.verdict,
        "reason": decision.reason,
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


@command.command()
@click.option("--preset", metavar="NAME", help="Verify this preset alone, without your config.")
@pass_call
def verify(call: Call, preset: str | None) -> Answer:
    """Every mistake in the guard's config, with file, line and key, and rules that cannot be meant so."""
    loaded = verified(() if preset else _files(call), preset=preset, temp_roots=_temp_roots())
    fatal = [mistake for mistake in loaded.mistakes if mistake.fatal]
    data = {
        "files": [source.path for source in loaded.sources],
        "rules": len(loaded.rules.rules),
        "mistakes": [
            {"file": one.file, "line": one.line, "key": one.key, "message": one.message, "fatal": one.fatal}
            for one in loaded.mistakes
        ],
    }
    if not fatal:
        return Answer(data, lambda: _told(loaded))
    error = BadConfig(fatal[0].file, f"{len(fatal)} mistake{'s' if len(fatal) > 1 else ''}", hint="it is not in force")
    return Answer(data, lambda: _told(loaded), exit_code=error.exit_code, error=error)


def _told(loaded: Loaded) -> Iterable[str]:
    for mistake in loaded.mistakes:
        yield shown(f"{mistake}" if mistake.fatal else f"{mistake} (a remark)")
    if not loaded.mistakes:
        yield f"No mistake: {len(loaded.rules.rules)} rules from {', '.join(source.path for source in loaded.sources)}."


@command.command()
@click.option("-n", "--number", type=click.IntRange(min=1), default=50, show_default=True, help="At most this many.")
@click.option("--session", metavar="GLOB", help="Only this session.")
@click.option("--agent", metavar="GLOB", help="Only this agent.")
@click.option("--tool", metavar="GLOB", help="Only this tool: shell, read, write, edit, notebook, patch.")
@click.option("--decision", metavar="GLOB", help="Only allow, ask, deny, pass or mismatch.")
@click.option("--rule", metavar="GLOB", help="Only what this rule decided, as 'sandbox:*'.")
@click.option("--grep", metavar="TEXT", default="", help="Only inputs that hold TEXT.")
@click.option("--since", metavar="AGE", type=age, default=None, help="Only the last AGE, as 1h30m.")
@pass_call
def log(call: Call, number: int, grep: str, since: int | None, **filters: str | None) -> Answer:
    """What the guard said, newest last."""
    fields = {key: glob for key, glob in filters.items() if glob is not None}
    since_s = time.time() - since if since is not None else 0.0
    wanted = (one for one in entries(places.state_dir()) if is_wanted(one, fields=fields, words=grep, since_s=since_s))
    found = list(deque(wanted, number))
    return Answer({"entries": found}, lambda: _table(call, found))


def _table(call: Call, found: list[Entry]) -> Iterable[str]:
    if not found:
        return ["The guard has said nothing that fits."]
    keys = ("time", "agent", "tool", "decision", "rule")
    rows = [
        Row(
            (
                *(shown(str(one.get(key) or "-")) for key in keys),
                shown(str(one.get("after") or one.get("before") or "")),
            )
        )
        for one in found
    ]
    return draw(_LOG, rows, for_a_person=call.for_a_person)
