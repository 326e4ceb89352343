"""Code within the line that bash itself reads: sh -c, eval, trap, here-documents for a shell."""

from __future__ import annotations

from ..nouns.analysis import CODE, READ, WRITE
from ..nouns.fields import Field
from ..nouns.invocation import Invocation
from ..nouns.state import State, join
from ..programs.options import Argument, parse
from ..programs.table import program
from .code import child_state, joined, simulate_code, value_of
from .expand import expand_single
from .plain import tell
from .shell import Shell, Ways
from .wrappers import unwrap

ENDINGS = ("EXIT", "0", "INT", "TERM", "HUP", "QUIT", "PIPE")  # traps that run when nothing follows, or from outside


def simulate_shell(shell: Shell, call: Invocation, state: State) -> Ways:
    """sh -c code, sh script, sh with code on its input."""
    fields, at, takes_code = call.fields, 1, False
    while at < len(fields):
        text = fields[at].text
        if text is None:
            shell.refuse("a shell is given code that is not known")
            return tell(shell, call, state)
        if not text.startswith(("-", "+")) or text == "-":
            break
        at += 1
        if text.startswith("--"):
            at += text in ("--rcfile", "--init-file")
            if text == "--":
                break
            continue
        takes_code = takes_code or "c" in text[1:]
        at += "o" in text[1:] or "O" in text[1:]
        if "s" in text[1:] and not takes_code:
            at = len(fields)
    name = (fields[0].text or "").rpartition("/")[2]
    if takes_code and at < len(fields):
        _files_of(shell, call, state)
        simulate_code(shell, fields[at], child_state(shell, state, fields[at + 1 :]), *call.wrappers, name)
    elif at < len(fields) and fields[at].text != "-":
        _script(shell, call, at, state)
    else:
        _input(shell, call, state, name)
    return state, state


def _files_of(shell: Shell, call: Invocation, state: State) -> None:
    if call.redirects:
        shell.emit(Invocation(call.node, [], call.redirects, None), [], state)


def _script(shell: Shell, call: Invocation, at: int, state: State) -> None:
    paths = shell.touch(Argument(call.fields[at], 0, READ), state, "sh")
    if (call.fields[at].text or "").startswith("/dev/"):
        shell.refuse("a shell is given code that is not known")
    for field in call.fields[at + 1 :]:
        if not (field.text or "").startswith("-"):
            paths += shell.touch(Argument(field, 0, "any"), state, "sh")
    shell.emit(call, paths, state)


def _input(shell: Shell, call: Invocation, state: State, name: str) -> None:
    """The code is on its input: a here-document or here-string, or something that nobody can read."""
    body = call.body
    if body is None:
        shell.refuse(f"{name} is given code on its input")
        tell(shell, call, state)
        return
    _files_of(shell, call, state)
    if body.op == "<<<":
        field = expand_single(shell, body.target.parts, body.target, state)
    elif body.parts is None:
        field = Field(body.body, None)
    else:
        field = expand_single(shell, body.parts, None, state)
    simulate_code(shell, field, child_state(shell, state, []), *call.wrappers, name)


def simulate_eval(shell: Shell, call: Invocation, state: State) -> Ways:
    fields = call.fields[1:]
    _files_of(shell, call, state)
    return simulate_code(shell, joined(fields), state, *call.wrappers, "eval")


def set_trap(shell: Shell, call: Invocation, state: State) -> Ways:
    """What it runs runs some time: nothing is known about the shell then."""
    shell.emit(call, [], state)
    fields = [field for field in call.fields[1:] if field.text != "--"]
    if len(fields) > 1 and (fields[0].text is None or not fields[0].text.startswith("-")):
        before = state.at((None,)).forgetting()
        if join(*simulate_code(shell, fields[0], before, "trap")) is not before:
            if any((field.text or "").removeprefix("SIG").upper() not in ENDINGS for field in fields[1:]):
                shell.refuse("a trap changes what is known at any time")
            state = state.doubting("a trap may change what is known")
    return state, state


def simulate_user_shell(shell: Shell, call: Invocation, state: State) -> Ways:
    """su -c, runuser -c, script -c: the code is an option's value, wherever that stands."""
    name = call.name
    known = program(name)
    parsed = parse(known, call.fields)
    code = [value_of(argument) for argument in parsed.found if argument.mode == CODE]
    if not code and name == "runuser" and parsed.has("u", "user") and parsed.plain:
        return unwrap(shell, "runuser", 1, call, state)
    if not code and known.text("user_shell") == "input":
        shell.refuse(f"what {name} runs is not known")
    files = [one for one in parsed.found if one.mode != CODE]
    if name == "script":
        files += [Argument(field, 0, WRITE) for field in parsed.plain[:1] or [Field("typescript", None)]]
    shell.emit(call, [use for one in files for use in shell.touch(one, state, name)], state)
    for field in code:
        simulate_code(shell, field, child_state(shell, state, []), *call.wrappers, name)
    return state, state
