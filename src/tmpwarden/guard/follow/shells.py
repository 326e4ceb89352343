"""Code within the line that bash itself reads: sh -c, eval, trap, here-documents for a shell."""

from __future__ import annotations

from ..nouns.analysis import CODE, READ, WRITE
from ..nouns.call import Call
from ..nouns.fields import Field
from ..nouns.state import UNKNOWN, State, join
from ..programs.options import Argument, parse
from ..shell.reader import read_part
from ..shell.syntax import LITERAL, Sequence, Unreadable
from .finders import Finders
from .walk import Ways
from .wrappers import joined, value_of

MAX_SHELLS = 6
ENDINGS = ("EXIT", "0", "INT", "TERM", "HUP", "QUIT", "PIPE")  # traps that run when nothing follows, or from outside
SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "yash")
# options as in programs.py; does it start a shell that takes its code from the input when it is given none?
USER_SHELLS = {
    "su": ("T c$g:G:s:w: command$ session-command$ group: supp-group: shell: whitelist-environment:", True),
    "runuser": ("T c$u:g:G:s: command$ session-command$ user: group: supp-group: shell:", True),
    "sg": ("T c$", True),
    "newgrp": ("T c$", True),
    "script": (
        "T c$o:O>I>B>T>m:E: command$ log-out> log-in> log-io> log-timing> logging-format: echo: output-limit:",
        False,
    ),
}


class Shells(Finders):
    """Adds shells within the shell."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self.shells = 0

    def follow_code(self, field: Field, state: State, *around: str) -> Ways:
        """Read a string as bash does, in its place in the text if it stands there as it is."""
        if field.text is None:
            self.refuse("a shell is given code that is not known")
            return state.at((None,)).forgetting(), state.at((None,)).forgetting()
        self.shells += 1
        if self.shells > MAX_SHELLS:
            raise Unreadable("shells in shells, too deep")
        outer, self.around = self.around, self.around + around
        place = self._place(field)
        try:
            if place is not None:
                ways = self.run(read_part(self.source, place[0], place[1], self.shells), state)
            else:
                ways = self.run_text(self._read(field.text), field.text, state)
        finally:
            self.around = outer
            self.shells -= 1
        return ways

    def _read(self, text: str) -> Sequence:
        return read_part(text, 0, len(text), self.shells)

    def _place(self, field: Field) -> tuple[int, int] | None:
        if not self.in_text or field.word is None or len(field.word.parts) != 1:
            return None
        part = field.word.parts[0]
        if part.kind != LITERAL or part.quote not in ("'", '"'):
            return None
        start, end = (part.start + 1, part.end - 1) if part.quote == "'" else (part.start, part.end)
        return (start, end) if self.source[start:end] == field.text else None

    def child(self, state: State, values: list[Field]) -> State:
        """The state of a shell that is started: it sees what is exported, nothing else."""
        inner = state.copy()
        inner.variables = {
            name: value if name in state.exported or name in self.environment else UNKNOWN
            for name, value in state.variables.items()
        }
        inner.positional = (
            tuple([value.text for value in values[1:]]) if all(v.stem is not None for v in values) else None
        )
        if values and any(value.text is None for value in values):
            inner.positional = None
        return inner

    def shell(self, call: Call, state: State) -> Ways:
        """sh -c code, sh script, sh with code on its input."""
        fields, at, takes_code = call.fields, 1, False
        while at < len(fields):
            text = fields[at].text
            if text is None:
                self.refuse("a shell is given code that is not known")
                return self.tell(call, state)
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
            self._files_of(call, state)
            self.follow_code(fields[at], self.child(state, fields[at + 1 :]), *call.wrappers, name)
        elif at < len(fields) and fields[at].text != "-":
            self._script(call, at, state)
        else:
            self._input(call, state, name)
        return state, state

    def _files_of(self, call: Call, state: State) -> None:
        if call.redirects:
            self.emit(Call(call.node, [], call.redirects, None), [], state)

    def _script(self, call: Call, at: int, state: State) -> None:
        paths = self.touch(Argument(call.fields[at], 0, READ), state, "sh")
        if (call.fields[at].text or "").startswith("/dev/"):
            self.refuse("a shell is given code that is not known")
        for field in call.fields[at + 1 :]:
            if not (field.text or "").startswith("-"):
                paths += self.touch(Argument(field, 0, "any"), state, "sh")
        self.emit(call, paths, state)

    def _input(self, call: Call, state: State, name: str) -> None:
        """The code is on its input: a here-document or here-string, or something that nobody can read."""
        body = call.body
        if body is None:
            self.refuse(f"{name} is given code on its input")
            self.tell(call, state)
            return
        self._files_of(call, state)
        if body.op == "<<<":
            field = self.single(body.target.parts, body.target, state)
        elif body.parts is None:
            field = Field(body.body, None)
        else:
            field = self.single(body.parts, None, state)
        self.follow_code(field, self.child(state, []), *call.wrappers, name)

    def eval(self, call: Call, state: State) -> Ways:
        fields = call.fields[1:]
        self._files_of(call, state)
        return self.follow_code(joined(fields), state, *call.wrappers, "eval")

    def trap(self, call: Call, state: State) -> Ways:
        """What it runs runs some time: nothing is known about the shell then."""
        self.emit(call, [], state)
        fields = [field for field in call.fields[1:] if field.text != "--"]
        if len(fields) > 1 and (fields[0].text is None or not fields[0].text.startswith("-")):
            before = state.at((None,)).forgetting()
            if join(*self.follow_code(fields[0], before, "trap")) is not before:
                if any((field.text or "").removeprefix("SIG").upper() not in ENDINGS for field in fields[1:]):
                    self.refuse("a trap changes what is known at any time")
                state = state.doubting("a trap may change what is known")
        return state, state

    def user_shell(self, call: Call, state: State) -> Ways:
        """su -c, runuser -c, script -c: the code is an option's value, wherever that stands."""
        name = (call.fields[0].text or "").rpartition("/")[2]
        spec, runs = USER_SHELLS[name]
        parsed = parse(spec, call.fields)
        code = [value_of(argument) for argument in parsed.found if argument.mode == CODE]
        if not code and name == "runuser" and parsed.has("u", "user") and parsed.plain:
            return self.opened("runuser", 1, call, state)
        if not code and runs:
            self.refuse(f"what {name} runs is not known")
        files = [one for one in parsed.found if one.mode != CODE]
        if name == "script":
            files += [Argument(field, 0, WRITE) for field in parsed.plain[:1] or [Field("typescript", None)]]
        self.emit(call, [use for one in files for use in self.touch(one, state, name)], state)
        for field in code:
            self.follow_code(field, self.child(state, []), *call.wrappers, name)
        return state, state

    def run_code(self, argument: Argument, program: str, state: State) -> None:
        self.follow_code(value_of(argument), self.child(state, []), program)
