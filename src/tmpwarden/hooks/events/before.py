"""Before a tool call: the guard's decision, in the agent's words. Hot path."""

import posix

from ...guard.context import CallPlace, Context, context_of
from ...guard.decide.evaluate import evaluate
from ...guard.decide.filetools import has_rule
from ...guard.rules.rule import SESSION, Rules
from ...model.hot import DENY, Decision, ToolCall
from ...oskit import system
from ...oskit.files.disk import Disk
from ...oskit.proc.agent_version import program_of, version_of
from ...oskit.proc.inherited import inherited_names
from .. import notebook
from ..dialects.common import Answer
from .hook_call import HookCall
from .rules import guard_rules
from .session_scratch import has_no_end, inherited_temp_dir, open_scratch, scratch_of

_UNGUARDED = ("other", "search", "list")  # tools that nobody has a word about, unless a rule names them


def before(call: HookCall) -> Answer | None:
    tool = call.tool
    try:
        decision = _decision(call, tool)
    except Exception as problem:
        notebook.log(call.notes, f"guard: {type(problem).__name__}: {problem}")
        return call.dialect.cannot_judge(call.event, type(problem).__name__)
    return None if decision is None else call.dialect.decide(call.event, decision, tool)


def _decision(call: HookCall, tool: ToolCall) -> Decision | None:
    """None: a tool that nobody has a word about."""
    rules = guard_rules(call).rules
    if tool.tool in _UNGUARDED and not rules.never and not _is_followed(tool, rules) and not has_rule(tool, rules):
        return None
    decision = evaluate(tool, rules, _context(call, tool, rules))
    if (decision.fresh or decision.others) and decision.verdict != DENY:
        from .stating import state_names

        state_names(call, tool, decision.fresh, decision.others)
    try:
        from ...guard.log.audit import record

        record(call.state, tool, decision)
    except OSError:
        pass  # a full disk is no reason to stop an agent
    return decision


def _is_followed(tool: ToolCall, rules: Rules) -> bool:
    return rules.redirect_tmp and tool.tool != "other"


def _context(call: HookCall, tool: ToolCall, rules: Rules) -> Context:
    facts, environ = call.dialect.facts, call.environ
    scratch, is_tmpdir = _temp(call) if rules.target == SESSION else _shared(call, rules.target)
    project = environ.get(facts["project"].encode(), b"") if facts["project"] else b""
    place = CallPlace(
        scratch=scratch,
        is_tmpdir=is_tmpdir,
        project=project.decode("utf-8", "surrogateescape") or tool.cwd,
        cwd=tool.cwd,
        home=environ.get(b"HOME", b"/").decode("utf-8", "surrogateescape"),
        shell_home=environ.get(b"TMPWARDEN_SHELL_HOME", b"").decode("utf-8", "surrogateescape"),
        uid=posix.geteuid(),
        environ=environ,
        temp_roots=notebook.shared_roots(environ),
    )
    return context_of(
        place,
        facts,
        call.dialect.answers_to(call.event),
        _version(call) if rules.redirect_tmp else (),  # it is asked only whether a rewrite is kept
        Disk(),
        inherited=inherited_names,
        owns=lambda path: _owns(call, path),
        kept=f"{call.state}/guard/startup",
    )


def _owns(call: HookCall, path: str) -> bool:
    from .stating import owns

    return owns(call, path)


def _version(call: HookCall) -> tuple[int, ...]:
    """Of the agent that called; nobody asks for it where no version keeps a rewrite."""
    facts, environ, payload = call.dialect.facts, call.environ, call.payload
    if not facts["keeps_rewrite"]:
        return ()

    def program() -> str:
        from ...oskit import system  # asked once for each agent's version, and the answer is kept

        return program_of(call.owner_pid) if system.hot.TELLS_PROCESSES else ""  # who it is would take ctypes

    return version_of(facts, environ, payload, program, f"{call.notes}/{facts['id']}.version")


def _temp(call: HookCall) -> tuple[str | None, bool]:
    """The scratch, and whether the agent's commands have it as TMPDIR: an allow for `$TMPDIR/x` rests on it."""
    if not call.dialect.reaches_commands and (temp_dir := inherited_temp_dir(call)):
        return temp_dir, True
    path, is_tmpdir = scratch_of(call)
    return (_make_scratch(call), False) if path is None else (path, is_tmpdir)


def _shared(call: HookCall, target: str) -> tuple[str | None, bool]:
    """The directory that the config names. Where it is squatted there is no scratch, and nothing is led."""
    from ...errors import TmpwardenError
    from ...leases.static_temp import make_shared

    path, is_tmpdir = scratch_of(call)
    try:
        make_shared(call.state, target)
    except (TmpwardenError, OSError) as problem:
        notebook.log(call.notes, f"no temp directory for this session: {problem}")
        return None, False
    return target, is_tmpdir and path == target


def _make_scratch(call: HookCall) -> str | None:
    """A scratch for a session that got none at its start: its hooks came later, or could not have told anybody."""
    from ...errors import TmpwardenError

    if not system.hot.TELLS_PROCESSES or has_no_end(call.state):  # there, only a session's start has time to ask
        return None
    try:
        return open_scratch(call).path
    except (TmpwardenError, OSError) as problem:
        notebook.log(call.notes, f"no temp directory for this session: {problem}")
        return None
