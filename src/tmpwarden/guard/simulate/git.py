"""git: the tree it works on, the paths it is given, and the code that its settings carry."""

from __future__ import annotations

from ..nouns.analysis import READ, WRITE, PathUse
from ..nouns.fields import Field
from ..nouns.invocation import Invocation
from ..nouns.state import State
from ..programs.options import Argument
from .code import child_state, simulate_code
from .directories import moved
from .links import note_links
from .shell import Shell, Ways


def simulate_git(shell: Shell, call: Invocation, state: State) -> Ways:
    from ..programs.git import SOFT, VARIABLES, GitInvocation  # as above

    told = GitInvocation(call.fields)
    where = state
    for field in told.moves:
        shell.touch(Argument(field, 0, READ), where, "git")
        where = moved(shell, [field], where)
    paths = []
    for argument in told.arguments:
        if argument.field.word is None and argument.field.text == ".":
            paths += _tree(shell, told.command in SOFT, where)
        else:
            paths += shell.touch(argument, where, "git")
    if told.is_global:
        paths.append(PathUse("~/.gitconfig", f"{shell.home}/.gitconfig", WRITE, resolved=f"{shell.home}/.gitconfig"))
    shell.emit(call, paths, state)
    if any(name.startswith("GIT_CONFIG") or name == "GIT_EXEC_PATH" for name in state.variables):
        shell.refuse("git is given settings by variables")
    if told.command == "clone":
        note_links(shell, "git", call, paths)
    code = told.code + [Field(state.variables[name].text, None) for name in VARIABLES if name in state.variables]
    for field in code:
        simulate_code(shell, field, child_state(shell, where, []), "git")
    return state, state


def _tree(shell: Shell, is_soft: bool, where: State) -> list[PathUse]:
    """The tree that git changes: where it stands, unless a variable says otherwise."""
    for name in ("GIT_WORK_TREE", "GIT_DIR"):
        value = where.variables.get(name)
        if value is not None or name in shell.environment:
            text = value.text if value is not None else shell.environment[name]
            return shell.touch(Argument(Field(text, None), 0, WRITE), where, "git")
    if is_soft and None in where.cwds:
        return []
    return shell.touch(Argument(Field(".", None), 0, WRITE), where, "git")
