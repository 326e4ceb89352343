"""Code within the line: shells, eval, other interpreters, other machines."""

from __future__ import annotations

from .analysis import PathUse
from .arguments import Argument, is_elsewhere
from .calls import Call
from .fields import Field
from .follow import Ways
from .inline import awk_writes, is_harmless, sed_writes
from .reader import read_part
from .state import UNKNOWN, State
from .syntax import LITERAL, Sequence, Unreadable
from .wrappers import Wrappers

MAX_SHELLS = 6
SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash")
# options of an interpreter that are followed by code
CODE_OPTIONS = {
    "python": ("c", ()),
    "node": ("ep", ("--eval", "--print")),
    "perl": ("eE", ()),
    "ruby": ("e", ()),
    "php": ("rBRE", ()),
    "lua": ("e", ()),
    "osascript": ("e", ()),
    "Rscript": ("e", ()),
    "bun": ("e", ("--eval",)),
}
CODE_READERS = (
    "at",
    "batch",
    "parallel",
    "ed",
    "ex",
    "vim",
    "vi",
    "nvim",
    "emacs",
    "expect",
    "gdb",
    "tclsh",
    "m4",
    "watch",
)
SSH_VALUES = "BbcDEeFIiJLlmOopQRSWw"
CONTAINER_VALUES = (
    "-e",
    "--env",
    "-u",
    "--user",
    "-w",
    "--workdir",
    "--env-file",
    "-c",
    "--container",
    "-n",
    "--namespace",
)


class Shells(Wrappers):
    """Adds what runs code."""

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
        paths = self.touch(Argument(call.fields[at], 0, "read"), state, "sh")
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
        if len(fields) == 1:
            return self.follow_code(fields[0], state, *call.wrappers, "eval")
        known = all(field.text is not None for field in fields)
        joined = Field(" ".join([field.text or "" for field in fields]) if known else None, None)
        return self.follow_code(joined, state, *call.wrappers, "eval")

    def trap(self, call: Call, state: State) -> Ways:
        """What it runs runs some time: nothing is known about the shell then."""
        self.emit(call, [], state)
        fields = [field for field in call.fields[1:] if field.text != "--"]
        if len(fields) > 1 and (fields[0].text is None or not fields[0].text.startswith("-")):
            self.follow_code(fields[0], state.at((None,)).forgetting(), "trap")
        return state, state

    def user_shell(self, call: Call, state: State) -> Ways:
        """su -c, runuser -c, script -c."""
        texts = [field.text for field in call.fields]
        for at, text in enumerate(texts[:-1]):
            if text in ("-c", "--command", "-qc", "-lc"):
                self.emit(call, [], state)
                self.follow_code(call.fields[at + 1], self.child(state, []), *call.wrappers, texts[0] or "su")
                return state, state
        self.refuse(f"what {texts[0]} runs is not known")
        return self.tell(call, state)

    def interpreter(self, call: Call, state: State) -> Ways:
        name = interpreter_of((call.fields[0].text or "").rpartition("/")[2])
        letters, longs = CODE_OPTIONS[name]
        code = self._code(call, letters, longs)
        if code is not None and not (code.text is not None and is_harmless(name, code.text)):
            self.refuse(f"{name} is given code")
        return self.tell(call, state)

    def _code(self, call: Call, letters: str, longs: tuple[str, ...]) -> Field | None:
        fields = call.fields
        for at in range(1, len(fields)):
            text = fields[at].text
            if text is None:
                return fields[at]
            if text == "-":
                break
            if not text.startswith("-"):
                return None
            if text == "-m" or text == "--version" or text == "-V" or text == "--help":
                return None
            is_code = text in longs if text.startswith("--") else any(c in letters for c in text[1:])
            if is_code:
                return fields[at + 1] if at + 1 < len(fields) and text[-1] in letters else Field(None, None)
        body = call.body
        return Field(body.body if body is not None and body.parts is None else None, None)

    def awk(self, call: Call, state: State) -> Ways:
        takes = "Fv"
        for at in range(1, len(call.fields)):
            text = call.fields[at].text
            before = call.fields[at - 1].text or ""
            if text is not None and text.startswith("-") and text != "-":
                if text.startswith(("-f", "-E", "--file", "--exec", "-i", "--include")):
                    self.refuse("awk is given a program that is not known")
                    break
                continue
            if len(before) == 2 and before[0] == "-" and before[1] in takes and at > 1:
                continue
            if text is None or awk_writes(text):
                self.refuse("awk may write files or run programs")
            break
        return self.tell(call, state)

    def sed(self, call: Call, state: State) -> Ways:
        scripts: list[str | None] = []
        plain: list[str | None] = []
        fields = iter(call.fields[1:])
        for field in fields:
            text = field.text
            if text in ("-e", "--expression"):
                scripts.append(getattr(next(fields, None), "text", None))
            elif text is not None and text.startswith("--expression="):
                scripts.append(text[13:])
            elif text is not None and text.startswith("-") and text != "-":
                if text.endswith("e") and not text.startswith(("--", "-i")):
                    scripts.append(getattr(next(fields, None), "text", None))
                elif text.startswith(("-f", "--file")):
                    scripts.append(None)
            else:
                plain.append(text)
        scripts = scripts or [text for text in plain if text != ""][:1]
        if any(script is None or sed_writes(script) for script in scripts):
            self.refuse("sed may write files or run programs")
        return self.tell(call, state)

    def reads_code(self, call: Call, state: State) -> Ways:
        self.refuse(f"{call.fields[0].text} may run anything")
        return self.tell(call, state)

    def ssh(self, call: Call, state: State) -> Ways:
        call.is_remote = True
        self.emit(call, [], state)
        fields = call.fields
        at = 1
        while at < len(fields) and (fields[at].text or "").startswith("-"):
            text = fields[at].text or ""
            at += 2 if any(c in SSH_VALUES for c in text[1:]) and text[-1] in SSH_VALUES else 1
        remote = fields[at + 1 :]
        if remote and all(field.text is not None for field in remote):
            self._remote_code(" ".join([field.text or "" for field in remote]), "ssh", state)
        return state, state

    def _remote_code(self, text: str, around: str, state: State) -> None:
        """Followed for the rules' sake; whether it can be read is no matter of this machine."""
        before, self.is_remote = self.is_remote, True
        opaque = self.opaque
        try:
            elsewhere = state.at((None,)).forgetting()
            self.follow_code(Field(text, None), elsewhere, around)
        except Unreadable:
            pass
        self.is_remote, self.opaque = before, opaque

    def container(self, call: Call, state: State) -> Ways:
        """docker exec, kubectl exec: another file system. Only what is copied touches ours."""
        name = (call.fields[0].text or "").rpartition("/")[2]
        texts = [field.text for field in call.fields]
        paths: list[PathUse] = []
        if "cp" in texts[1:3]:
            local = [field for field in call.fields[texts.index("cp") + 1 :] if not is_elsewhere(field)]
            for field in local:
                mode = "write" if field is call.fields[-1] else "read"
                if not (field.text or "").startswith("-"):
                    paths += self.touch(Argument(field, 0, mode), state, f"{name} cp")
        self.emit(call, paths, state)
        if "exec" in texts[1:2]:
            self._executed_elsewhere(call, name, state)
        return state, state

    def _executed_elsewhere(self, call: Call, name: str, state: State) -> None:
        fields, at = call.fields, 2
        while at < len(fields) and (fields[at].text or "").startswith("-"):
            at += 2 if fields[at].text in CONTAINER_VALUES else 1
        at += 1
        while at < len(fields) and (fields[at].text or "").startswith("-"):
            at += 1
        if at >= len(fields):
            return
        inner = self.quiet(call.inside(name, fields[at:]))
        before, opaque, self.is_remote = self.is_remote, self.opaque, True
        in_text, self.in_text = self.in_text, False  # nothing in there is a path of ours
        try:
            self.call(inner, state.at((None,)).forgetting())
        except Unreadable:
            pass
        self.is_remote, self.opaque, self.in_text = before, opaque, in_text


def interpreter_of(name: str) -> str:
    """python3.11 is python."""
    for known in ("python", "pypy"):
        if name.startswith(known):
            return "python"
    if name.startswith("perl"):
        return "perl"
    if name.startswith("lua"):
        return "lua"
    return "node" if name == "nodejs" else name
