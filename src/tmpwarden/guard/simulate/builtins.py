"""Builtins: where the shell is, what its variables hold, what its names mean."""

from __future__ import annotations

from ..nouns.fields import Field, Invocation
from ..nouns.names import names
from ..nouns.paths import normal_form, path_from, resolve_path
from ..nouns.state import DATA, MAX_CWDS, UNKNOWN, State, Value, join
from ..shell.cursor import NAME, NAME_START
from .expand import DASH, as_value, refuse_text
from .plain import plain, simulate_code, tell
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
    if len(call.fields) > 1 and len(state.cwds) == 1 and shell.commands:
        from .written import text_written_to  # rare, and every hook pays for each module

        path = path_from(state.cwds[0], call.fields[1].text or "")
        written = text_written_to(shell, normal_form(path)) if path is not None else None
        if written is not None:
            state = join(*simulate_code(shell, Field(written, None), state, ".")) or state
    is_venv = len(call.fields) == 2 and (call.fields[1].text or "").endswith("/bin/activate")
    after = state if is_venv else state.forgetting()
    after = after.doubting("a file that was sourced may have changed what names mean")
    return after, after


def leave_shell(shell: Shell, call: Invocation, state: State) -> Ways:
    tell(shell, call, state)
    return None, None


def leave_function(shell: Shell, call: Invocation, state: State) -> Ways:
    """Outside of a function `return` fails, and the line was resumed."""
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


# options that leave the meaning of the line as it is
SET_LETTERS = frozenset("abefhmnotuvxCET")
SET_NAMES = names(
    "allexport errexit errtrace functrace hashall ignoreeof interactive-comments monitor noclobber noexec noglob "
    "notify nounset pipefail verbose xtrace"
)
EXPORTING = frozenset("xrgaA")  # options of declare that leave the value as it is


def declare(shell: Shell, call: Invocation, state: State) -> Ways:
    """export, declare, local, readonly, typeset."""
    shell.emit(call, [], state)
    refuse_subscripts(shell, call)
    name = call.fields[0].text
    options = ""
    values: dict[str, Value] = {}
    exported = []
    for field in call.fields[1:]:
        declared = field.declares or _quoted_declaration(field)
        if declared is None and field.text is not None and field.text.startswith(("-", "+")):
            options += field.text[1:]
        elif declared is None and field.text is None:
            shell.refuse("what is declared is not known")
            state = state.forgetting()
        elif declared is None:
            exported.append(field.text or "")
            if name == "local":
                values[field.text or ""] = UNKNOWN
        else:
            values[declared[0]] = declared[1]
            exported.append(declared[0])
    if "n" in options and name != "export":
        shell.refuse("a variable is made another name for a variable")
    if name in ("declare", "typeset"):
        state = state.doubting(DASH)  # it does not know them
    is_plain = EXPORTING.issuperset(options)
    after = state.assigning(values if is_plain else dict.fromkeys(values, UNKNOWN))
    if name == "readonly" or "r" in options or not is_plain:
        after = after.freezing(exported)
    if shell.locals and name not in ("export", "readonly"):
        shell.locals[-1].update(exported)
    if name == "export" or "x" in options:
        after = after.exporting(exported)
    return after, after


def read_names(shell: Shell, call: Invocation, state: State) -> Ways:
    """read, mapfile, getopts, let, wait: every name among the arguments may be set."""
    tell(shell, call, state)
    refuse_subscripts(shell, call)
    if any(field.text in ("-C", None) for field in call.fields) and call.fields[0].text in ("mapfile", "readarray"):
        shell.refuse("mapfile runs code")
    if any(field.text is None for field in call.fields):
        return state.forgetting(), state.forgetting()
    values = {"REPLY": UNKNOWN, "MAPFILE": UNKNOWN, "OPTARG": UNKNOWN}
    for field in call.fields[1:]:
        for name in _names(field.text or ""):
            values[name] = DATA if call.fields[0].text == "read" else UNKNOWN
    plain = [field.text or "" for field in call.fields[1:] if (field.text or "")[:1] != "-"]
    if call.fields[0].text == "read" and len(plain) == 1 and shell.before and not call.redirects and call.body is None:
        from .listing import list_names  # rare, and every hook pays for each module

        listing = list_names(shell.before)
        if listing is not None and len(listing) == 1:
            values[plain[0]] = as_value(listing[0])  # git ls-files '*.orig' | while read -r f
            state = state.doubting("which names are listed is not known")
    after = state.assigning(values)
    return after, after


def print_formatted(shell: Shell, call: Invocation, state: State) -> Ways:
    tell(shell, call, state)
    first = call.fields[1].text if len(call.fields) > 1 else ""
    if first is None:
        return state.forgetting(), state.forgetting()
    if not first.startswith("-v"):
        return state, state
    refuse_subscripts(shell, call)
    name = first[2:] or (call.fields[2].text if len(call.fields) > 2 else "")
    after = state.forgetting() if name is None else state.assigning(dict.fromkeys(_names(name)[:1], UNKNOWN))
    return after, after


def refuse_subscripts(shell: Shell, call: Invocation) -> None:
    """read 'a[$(code)]': the subscript is expanded when the name is used."""
    for field in call.fields:
        refuse_text(shell, field.text)


def unset_names(shell: Shell, call: Invocation, state: State) -> Ways:
    """What is unset in a function may show the variable of that name around it."""
    tell(shell, call, state)
    refuse_subscripts(shell, call)
    texts = [field.text for field in call.fields[1:]]
    if None in texts:
        return state.forgetting(), state.forgetting()
    after = state.copy()
    if "-f" not in texts:
        nothing = UNKNOWN if shell.locals or state.frozen else Value("")
        values = {name: nothing if name == text else UNKNOWN for text in texts for name in _names(text or "")[:1]}
        after = state.assigning(values).copy()
    if "-v" not in texts:
        after.functions = {name: body for name, body in state.functions.items() if name not in texts}
    return after, after


def simulate_test(shell: Shell, call: Invocation, state: State) -> Ways:
    """test -v 'a[$(code)]'."""
    if any(field.text in ("-v", "-R", None) for field in call.fields):
        refuse_subscripts(shell, call)
    return tell(shell, call, state)


def set_options(shell: Shell, call: Invocation, state: State) -> Ways:
    tell(shell, call, state)
    texts = [field.text for field in call.fields[1:]]
    after = state.copy()
    at = 0
    while at < len(texts):
        text = texts[at]
        if text is None or text == "--" or not text.startswith(("-", "+")):
            after.positional = None if text is None else tuple(texts[at + 1 :] if text == "--" else texts[at:])
            break
        name = texts[at + 1] if text.endswith("o") and at + 1 < len(texts) else "noglob"
        if not SET_LETTERS.issuperset(text[1:]) or name not in SET_NAMES:
            shell.refuse("an option changes how the line is read")
        at += 2 if text.endswith("o") else 1
    return after, after


def shift_arguments(shell: Shell, call: Invocation, state: State) -> Ways:
    tell(shell, call, state)
    after = state.copy()
    is_one = len(call.fields) == 1
    after.positional = state.positional[1:] if state.positional is not None and is_one else None
    return after, after


def _quoted_declaration(field: Field) -> tuple[str, Value] | None:
    """NAME=value that was quoted as a whole."""
    name, equals, value = (field.text or "").partition("=")
    if not equals or not name or name[0] not in NAME_START:
        return None
    return name.rstrip("+"), Value(value) if not name.endswith("+") else UNKNOWN


def _names(text: str) -> list[str]:
    names, name = [], ""
    for c in text + " ":
        if c in NAME:
            name += c
        elif name:
            names.append(name)
            name = ""
    return names


def change_directory(shell: Shell, call: Invocation, state: State) -> Ways:
    plain(shell, call, state, "cd")
    words = call.fields[1:]
    if [field.text for field in words] == ["-"]:
        if state.forgets or "OLDPWD" in state.variables:
            return state.at((None,)), state
        there = state.before if len(state.before) <= MAX_CWDS else (None,)
        after = state.copy(cwds=there, before=state.cwds)
        return after.doubting("cd - goes where the shell was before"), state
    after = move_shell(shell, words, state).copy(before=state.cwds)
    is_there = len(words) == 1 and all(cwd is None or shell.look(f"{cwd}/.")[1] for cwd in after.cwds)
    return after, state.copy(before=state.cwds) if is_there else state  # it will not fail: `cd a; cd -` comes back


def move_shell(shell: Shell, values: list[Field], state: State) -> State:
    """Where cd leads; afterwards every directory is unknown if it cannot be told."""
    is_physical = False
    while values and values[0].text in ("-L", "-P", "-e", "-@", "--", "-LP", "-PL"):
        is_physical = is_physical or "P" in (values[0].text or "")
        values = values[1:]
    if not values:
        target = shell.variable("HOME", state).text
    elif len(values) > 1:
        return state.at((None,))
    else:
        target = values[0].stem  # a fresh name has no text
        if values[0].pattern_at >= 0:
            state = state.doubting("which of several directories cd leads to is not known")
    if target is None or target[0:1] in ("-", "+"):  # +1 is a place on the stack of zsh
        return state.at((None,))
    if _searches(shell, target, state):
        return state.at((None,)).doubting("CDPATH says where cd goes")
    if not target:
        return state
    full = [path_from(cwd, target) for cwd in state.cwds]
    if is_physical:
        return state.at(tuple([None if path is None else resolve_path(path, True, shell.look) for path in full]))
    return state.at(tuple([None if path is None else _logical(shell, path) for path in full]))


def _logical(shell: Shell, path: str) -> str | None:
    """By the letters; where that is no directory, bash goes through the links after all."""
    plain = normal_form(path)
    if ".." in path and resolve_path(path, True, shell.look) != resolve_path(plain, True, shell.look):
        return None
    return plain


def _searches(shell: Shell, target: str, state: State) -> bool:
    if target.startswith(("/", "./", "../")) or target in (".", ".."):
        return False
    return "CDPATH" in state.variables or "CDPATH" in shell.environment


def push_directory(shell: Shell, call: Invocation, state: State) -> Ways:
    plain(shell, call, state, "cd")
    if len(call.fields) == 1 or (call.fields[1].text or "+").startswith(("+", "-")):
        return state.at((None,)), state
    after = move_shell(shell, call.fields[1:], state).copy()
    after.stack = (*state.stack, state.cwds)
    return after, state


def pop_directory(shell: Shell, call: Invocation, state: State) -> Ways:
    tell(shell, call, state)
    if not state.stack or len(call.fields) > 1:
        return state.at((None,)), state
    after = state.at(state.stack[-1])
    after.stack = state.stack[:-1]
    return after, state
