"""Builtins that leave the shell or change what its names mean."""

from __future__ import annotations

from ..nouns.invocation import Invocation
from ..nouns.names import names
from ..nouns.state import State
from .plain import tell
from .shell import Shell, Ways

SHOPT_NAMES = names(
    "-s -u -q -p -o nullglob dotglob failglob globstar nocaseglob nocasematch extglob inherit_errexit globasciiranges "
    "checkwinsize huponexit login_shell nounset pipefail errexit"
)


def source_file(shell: Shell, call: Invocation, state: State) -> Ways:
    """It may set any variable and define any function; that it also moves is left to the doubt."""
    tell(shell, call, state)
    if len(call.fields) > 1 and (call.fields[1].text or "").startswith("/dev/"):
        shell.refuse("the shell is given code that is not known")
    after = state.forgetting().doubting("a file that was sourced may have changed what names mean")
    return after, after


def leave_shell(shell: Shell, call: Invocation, state: State) -> Ways:
    tell(shell, call, state)
    return None, None


def leave_function(shell: Shell, call: Invocation, state: State) -> Ways:
    """Outside of a function `return` fails, and the line goes on."""
    tell(shell, call, state)
    if not shell.returns:
        return state, state
    shell.returns[-1].append(state)
    return None, None


def leave_loop(shell: Shell, call: Invocation, state: State) -> Ways:
    tell(shell, call, state)
    for around in shell.escapes:
        around.append(state)
    return state, state


def make_alias(shell: Shell, call: Invocation, state: State) -> Ways:
    if any(field.text is None or "=" in field.text for field in call.fields[1:]):
        shell.refuse("an alias changes what a name means")
    return tell(shell, call, state)


def set_shell_options(shell: Shell, call: Invocation, state: State) -> Ways:
    if any(field.text not in SHOPT_NAMES for field in call.fields[1:]):
        shell.refuse("an option changes how the line is read")
    return tell(shell, call, state)


def may_run_code(shell: Shell, call: Invocation, state: State) -> Ways:
    """compgen -C and fc run code that is no command of the line."""
    if len(call.fields) > 1:
        shell.refuse(f"{call.fields[0].text} may run code")
    return tell(shell, call, state)


def change_names(shell: Shell, call: Invocation, state: State) -> Ways:
    """enable and hash. With a file they make a name mean what lies there."""
    if any((field.text or "-p").startswith(("-p", "-f")) for field in call.fields[1:]):
        shell.refuse("a name is made to mean another program")
    tell(shell, call, state)
    after = state.doubting("names may mean something else")
    return after, after
