"""Programs that run another program: their own options are passed, and what they run is followed."""

from __future__ import annotations

from .calls import LISTS, Call
from .fields import Field
from .follow import Ways
from .options import Argument
from .scanner import NAME, NAME_START
from .shell_builtins import Builtins
from .state import State, Value

# short options that take a value, how many plain arguments come before the command, long options that take a value
WRAPPERS = {
    "sudo": ("ugpChTrDRt", 0, "user group prompt chdir host role type close-from"),
    "doas": ("uC", 0, ""),
    "env": ("uC", 0, "unset chdir"),
    "nice": ("n", 0, "adjustment"),
    "ionice": ("cnpPu", 0, "class classdata pid"),
    "chrt": ("pTPD", 1, ""),
    "taskset": ("p", 1, ""),
    "nohup": ("", 0, ""),
    "setsid": ("", 0, ""),
    "stdbuf": ("ioe", 0, "input output error"),
    "timeout": ("ks", 1, "kill-after signal"),
    "gtimeout": ("ks", 1, "kill-after signal"),
    "time": ("fo", 0, "format output"),
    "command": ("", 0, ""),
    "builtin": ("", 0, ""),
    "exec": ("a", 0, ""),
    "strace": ("oepsuaEIPSX", 0, "output"),
    "ltrace": ("oepsuanlx", 0, "output"),
    "unbuffer": ("", 0, ""),
    "caffeinate": ("tw", 0, ""),
    "xvfb-run": ("nsefpw", 0, ""),
    "dbus-run-session": ("", 0, ""),
    "busybox": ("", 0, ""),
    "toybox": ("", 0, ""),
    "flock": ("Ew", 1, "timeout wait conflict-exit-code"),
    "prlimit": ("p", 0, ""),
    "systemd-run": ("puMGH", 0, "property unit"),
    "rlwrap": ("", 0, ""),
    "ssh-agent": ("aEtP", 0, ""),
    "firejail": ("", 0, ""),
    "catchsegv": ("", 0, ""),
    "fakeroot": ("lsib", 0, "lib faked"),
    "unshare": ("SGRw", 0, "root wd setuid setgid propagation map-user map-group"),
    "direnv": ("", 2, ""),
}
IN_SHELL = frozenset(("command", "builtin", "exec", "time"))
RUNNERS = {"uv": "run", "poetry": "run", "pipenv": "run", "pdm": "run", "rye": "run", "hatch": "run", "bundle": "exec"}
XARGS_VALUES = "adEILnPs"


class Wrappers(Builtins):
    """Adds the opening of wrappers."""

    def wrapped(self, call: Call, state: State) -> Ways:
        name = _base(call.fields[0])
        at, inner_state = self._command_at(name, call, state)
        if at < 0:
            self.refuse(f"what {name} runs is not known")
            return self.tell(call, state)
        if at >= len(call.fields) or (name == "command" and _flags(call.fields[1:at], "vV")):
            return self._bare(name, call, state)
        if name in ("sudo", "doas") or (name == "env" and at > 1 and _flags(call.fields[1:at], "iu")):
            inner_state = inner_state.forgetting()  # TMPDIR and others may be gone
        inner = call.inside(name, call.fields[at:])
        ways = self.call(inner, inner_state)
        if name in IN_SHELL and inner_state is state:
            return ways
        return state, state

    def _bare(self, name: str, call: Call, state: State) -> Ways:
        """A wrapper with nothing to run."""
        if name in ("sudo", "doas") and _flags(call.fields[1:], "is"):
            self.refuse(f"{name} starts a shell")
        self.emit(call, [], state)
        return state, state

    def _command_at(self, name: str, call: Call, state: State) -> tuple[int, State]:
        """Where the command starts, -1 if that cannot be told."""
        shorts, plain, longs = WRAPPERS[name]
        fields = call.fields
        at = 1
        while at < len(fields):
            text = fields[at].text
            if text is None:
                return -1, state
            if text == "--":
                at += 1
                break
            if not text.startswith("-") or text == "-":
                break
            if name == "env" and text.startswith(("-S", "--split-string")):
                return -1, state
            value_at = _value_at(text, shorts, longs)
            if value_at == AT_NEXT:
                at += 1
            state = self._option(name, text, value_at, fields, at, state)
            at += 1
        if name in ("sudo", "env", "doas"):
            return self._assignments(call, at, state)
        if name == "flock" and at < len(fields):
            self.touch(Argument(fields[at], 0, "write"), state, name)
        return at + plain, state

    def _option(self, name: str, text: str, value_at: int, fields: list[Field], at: int, state: State) -> State:
        """env -C and sudo -D move."""
        moves = text.startswith("--chdir") or text[1:2] == ("C" if name == "env" else "D" if name == "sudo" else "-")
        if not moves or (text.startswith("--") and not text.startswith("--chdir")):
            return state
        if at >= len(fields):
            return state.at((None,))
        if value_at == AT_NEXT:
            self.touch(Argument(fields[at], 0, "read"), state, name)
            return self.moved([fields[at]], state)
        return self.moved([Field(text[value_at:], None)], state)

    def _assignments(self, call: Call, at: int, state: State) -> tuple[int, State]:
        values: dict[str, Value] = {}
        while at < len(call.fields):
            field = call.fields[at]
            text = field.text
            if text is None and field.stem is None:
                return -1, state
            name, equals, value = (text or field.stem or "").partition("=")
            if not equals or not _is_name(name):
                break
            values[name] = Value(value if text is not None else None)
            if field.word is not None and self.in_text:
                self.site(field.word, len(name) + 1, "", name.endswith(LISTS)).modes.add("any")
            at += 1
        if not values:
            return at, state
        return at, state.assigning(values).exporting(list(values))

    def runner(self, call: Call, state: State) -> Ways:
        """uv run and its kin."""
        name = _base(call.fields[0])
        texts = [field.text for field in call.fields]
        if len(texts) < 3 or texts[1] != RUNNERS[name]:
            return self.tell(call, state)
        at = 2
        while at < len(texts) and (texts[at] or "").startswith("-"):
            at += 1
        if at >= len(texts):
            return self.tell(call, state)
        self.call(call.inside(f"{name} {texts[1]}", call.fields[at:]), state)
        return state, state

    def xargs(self, call: Call, state: State) -> Ways:
        """Its arguments come from its input: nobody knows them."""
        fields, at, replaced = call.fields, 1, ""
        while at < len(fields):
            text = fields[at].text
            if text is None:
                self.refuse("what xargs runs is not known")
                return self.tell(call, state)
            if not text.startswith("-") or text == "-":
                break
            value_at = _value_at(text, XARGS_VALUES, "arg-file delimiter max-args max-procs max-chars max-lines")
            if text.startswith(("-I", "--replace")):
                value = fields[at + 1] if value_at == AT_NEXT and at + 1 < len(fields) else None
                replaced = (value.text or "") if value is not None else text[2:] if text[1] == "I" else "{}"
            at += 2 if value_at == AT_NEXT else 1
            if text == "--":
                break
        inner = fields[at:] or [Field("echo", None)]
        unknown = Field(None, None)
        if replaced:
            inner = [unknown if replaced in (field.text or "") else field for field in inner]
        else:
            inner = [*inner, unknown]
        self.emit(call, [], state)
        self.call(self.quiet(call.inside("xargs", inner)), state)
        return state, state

    def quiet(self, call: Call) -> Call:
        """The redirects were told with the command around it."""
        call.redirects = []
        call.body = None
        return call

    def find(self, call: Call, state: State) -> Ways:
        fields = call.fields
        at = 1
        follows = False
        while at < len(fields) and (fields[at].text or "") in ("-H", "-L", "-P", "-O1", "-O2", "-O3"):
            follows = follows or fields[at].text == "-L"
            at += 1
        starts = []
        while at < len(fields) and not (fields[at].text or "").startswith(("-", "(", "!", ",")):
            starts.append(fields[at])
            at += 1
        expression = fields[at:]
        starts = starts or [Field(".", None)]
        deletes = any(field.text == "-delete" for field in expression)
        paths = []
        for start in starts:
            paths += self.touch(Argument(start, 0, "read"), state, "find")
        for at in range(1, len(expression)):
            if expression[at - 1].text in ("-fprint", "-fprint0", "-fprintf", "-fls"):
                paths += self.touch(Argument(expression[at], 0, "write"), state, "find")
        self.emit(call, paths, state)
        below = [_below(start, follows) for start in starts]
        if deletes:
            for start in starts:
                self.touch(Argument(start, 0, "delete"), state, "find")
            self.call(self.quiet(call.inside("find", [Field("rm", None), *below])), state)
        self._executed(call, expression, below, state)
        if any(field.text is None and field.stem is None for field in expression):
            self.refuse("what find does is not known")
        return state, state

    def _executed(self, call: Call, expression: list[Field], below: list[Field], state: State) -> None:
        at = 0
        while at < len(expression):
            option = expression[at].text
            at += 1
            if option not in ("-exec", "-execdir", "-ok", "-okdir"):
                continue
            inner: list[Field] = []
            while at < len(expression) and expression[at].text not in (";", "+"):
                text = expression[at].text or ""
                inner += below if text == "{}" else [Field(None, None)] if "{}" in text else [expression[at]]
                at += 1
            if inner:
                moved = state if option in ("-exec", "-ok") else state.at((None,))
                self.call(self.quiet(call.inside("find", inner)), moved)


AT_NEXT = -2


def _value_at(text: str, shorts: str, longs: str) -> int:
    """Where in the option its value starts; AT_NEXT: it is the next argument; -1: it has none."""
    if text.startswith("--"):
        name, equals, _ = text[2:].partition("=")
        if equals:
            return len(name) + 3
        return AT_NEXT if name in longs.split(" ") else -1
    for at in range(1, len(text)):
        if text[at] in shorts:
            return at + 1 if at + 1 < len(text) else AT_NEXT
    return -1


def _below(start: Field, follows: bool) -> Field:
    """Any file that find may come to: below the start, through no link."""
    field = Field(None, None, start.sites)
    if start.stem is not None and start.pattern_at < 0 and not follows:
        field.stem = start.stem.rstrip("/") + "/?"
        field.pattern_at = len(field.stem) - 1
    return field


def _base(field: Field) -> str:
    return (field.text or "").rpartition("/")[2]


def _flags(fields: list[Field], letters: str) -> bool:
    return any((field.text or "").startswith("-") and any(c in (field.text or "") for c in letters) for field in fields)


def _is_name(text: str) -> bool:
    return bool(text) and text[0] in NAME_START and all(c in NAME for c in text)
