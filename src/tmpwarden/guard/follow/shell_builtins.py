"""Commands that change the shell itself: what its variables hold, what its names mean."""

from __future__ import annotations

from ..nouns.call import Call
from ..nouns.fields import Field
from ..nouns.state import UNKNOWN, State, Value
from ..programs.table import names
from ..shell.cursor import NAME, NAME_START
from .directories import Directories
from .walk import Ways

# options that leave the meaning of the line as it is
SET_LETTERS = frozenset("abefhmnotuvxCET")
SET_NAMES = names(
    "allexport errexit errtrace functrace hashall ignoreeof interactive-comments monitor noclobber noexec noglob "
    "notify nounset pipefail verbose xtrace"
)
SHOPT_NAMES = names(
    "-s -u -q -p -o nullglob dotglob failglob globstar nocaseglob nocasematch extglob inherit_errexit"
) | names("globasciiranges checkwinsize huponexit login_shell nounset pipefail errexit")
EXPORTING = frozenset("xrgaA")  # options of declare that leave the value as it is


class Builtins(Directories):
    """Adds the other builtins."""

    def declare(self, call: Call, state: State) -> Ways:
        """export, declare, local, readonly, typeset."""
        self.emit(call, [], state)
        self._refuse_subscripts(call)
        name = call.fields[0].text
        options = ""
        values: dict[str, Value] = {}
        exported = []
        for field in call.fields[1:]:
            declared = field.declares or _declared(field)
            if declared is None and field.text is not None and field.text.startswith(("-", "+")):
                options += field.text[1:]
            elif declared is None and field.text is None:
                self.refuse("what is declared is not known")
                state = state.forgetting()
            elif declared is None:
                exported.append(field.text or "")
                if name == "local":
                    values[field.text or ""] = UNKNOWN
            else:
                values[declared[0]] = declared[1]
                exported.append(declared[0])
        if "n" in options and name != "export":
            self.refuse("a variable is made another name for a variable")
        is_plain = EXPORTING.issuperset(options)
        after = state.assigning(values if is_plain else dict.fromkeys(values, UNKNOWN))
        if name == "readonly" or "r" in options or not is_plain:
            after = after.freezing(exported)
        if self.locals and name not in ("export", "readonly"):
            self.locals[-1].update(exported)
        if name == "export" or "x" in options:
            after = after.exporting(exported)
        return after, after

    def read(self, call: Call, state: State) -> Ways:
        """read, mapfile, getopts, let, wait: every name among the arguments may be set."""
        self.tell(call, state)
        self._refuse_subscripts(call)
        if any(field.text in ("-C", None) for field in call.fields) and call.fields[0].text in ("mapfile", "readarray"):
            self.refuse("mapfile runs code")
        if any(field.text is None for field in call.fields):
            return state.forgetting(), state.forgetting()
        values = {"REPLY": UNKNOWN, "MAPFILE": UNKNOWN, "OPTARG": UNKNOWN}
        for field in call.fields[1:]:
            for name in _names(field.text or ""):
                values[name] = UNKNOWN
        after = state.assigning(values)
        return after, after

    def printf(self, call: Call, state: State) -> Ways:
        self.tell(call, state)
        first = call.fields[1].text if len(call.fields) > 1 else ""
        if first is None:
            return state.forgetting(), state.forgetting()
        if not first.startswith("-v"):
            return state, state
        self._refuse_subscripts(call)
        name = first[2:] or (call.fields[2].text if len(call.fields) > 2 else "")
        after = state.forgetting() if name is None else state.assigning(dict.fromkeys(_names(name)[:1], UNKNOWN))
        return after, after

    def _refuse_subscripts(self, call: Call) -> None:
        """read 'a[$(code)]': the subscript is expanded when the name is used."""
        for field in call.fields:
            self.refuse_text(field.text)

    def unset(self, call: Call, state: State) -> Ways:
        """What is unset in a function may show the variable of that name around it."""
        self.tell(call, state)
        self._refuse_subscripts(call)
        texts = [field.text for field in call.fields[1:]]
        if None in texts:
            return state.forgetting(), state.forgetting()
        after = state.copy()
        if "-f" not in texts:
            gone = UNKNOWN if self.locals or state.frozen else Value("")
            values = {name: gone if name == text else UNKNOWN for text in texts for name in _names(text or "")[:1]}
            after = state.assigning(values).copy()
        if "-v" not in texts:
            after.functions = {name: body for name, body in state.functions.items() if name not in texts}
        return after, after

    def set_options(self, call: Call, state: State) -> Ways:
        self.tell(call, state)
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
                self.refuse("an option changes how the line is read")
            at += 2 if text.endswith("o") else 1
        return after, after

    def shift(self, call: Call, state: State) -> Ways:
        self.tell(call, state)
        after = state.copy()
        is_one = len(call.fields) == 1
        after.positional = state.positional[1:] if state.positional is not None and is_one else None
        return after, after

    def source_file(self, call: Call, state: State) -> Ways:
        """It may set any variable and define any function; that it also moves is left to the doubt."""
        self.tell(call, state)
        if len(call.fields) > 1 and (call.fields[1].text or "").startswith("/dev/"):
            self.refuse("the shell is given code that is not known")
        after = state.forgetting().doubting("a file that was sourced may have changed what names mean")
        return after, after

    def leave(self, call: Call, state: State) -> Ways:
        self.tell(call, state)
        return None, None

    def leave_function(self, call: Call, state: State) -> Ways:
        """Outside of a function `return` fails, and the line goes on."""
        self.tell(call, state)
        if not self.returns:
            return state, state
        self.returns[-1].append(state)
        return None, None

    def leave_loop(self, call: Call, state: State) -> Ways:
        self.tell(call, state)
        for around in self.escapes:
            around.append(state)
        return state, state

    def alias(self, call: Call, state: State) -> Ways:
        if any(field.text is None or "=" in field.text for field in call.fields[1:]):
            self.refuse("an alias changes what a name means")
        return self.tell(call, state)

    def shopt(self, call: Call, state: State) -> Ways:
        if any(field.text not in SHOPT_NAMES for field in call.fields[1:]):
            self.refuse("an option changes how the line is read")
        return self.tell(call, state)

    def odd(self, call: Call, state: State) -> Ways:
        """compgen -C and fc run code that is no command of the line."""
        if len(call.fields) > 1:
            self.refuse(f"{call.fields[0].text} may run code")
        return self.tell(call, state)

    def rename(self, call: Call, state: State) -> Ways:
        """enable and hash."""
        self.tell(call, state)
        after = state.doubting("names may mean something else")
        return after, after


def _declared(field: Field) -> tuple[str, Value] | None:
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


BUILTINS = {
    "cd": Builtins.cd,
    "chdir": Builtins.cd,
    "pushd": Builtins.pushd,
    "popd": Builtins.popd,
    **dict.fromkeys(("export", "declare", "local", "readonly", "typeset"), Builtins.declare),
    **dict.fromkeys(("read", "mapfile", "readarray", "getopts", "let", "wait"), Builtins.read),
    **dict.fromkeys(("compgen", "fc"), Builtins.odd),
    "printf": Builtins.printf,
    "unset": Builtins.unset,
    "set": Builtins.set_options,
    "shift": Builtins.shift,
    "source": Builtins.source_file,
    ".": Builtins.source_file,
    "exit": Builtins.leave,
    "logout": Builtins.leave,
    "return": Builtins.leave_function,
    "break": Builtins.leave_loop,
    "continue": Builtins.leave_loop,
    "alias": Builtins.alias,
    "shopt": Builtins.shopt,
    "enable": Builtins.rename,
    "hash": Builtins.rename,
}
