"""Code of other languages on the command line: not understood, so harmless only where that can be seen."""

from __future__ import annotations

from .calls import Call
from .fields import Field
from .follow import Ways
from .shells import Shells
from .state import State

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


class Interpreters(Shells):
    """Adds python, awk, sed and their kin."""

    def interpreter(self, call: Call, state: State) -> Ways:
        name = interpreter_of((call.fields[0].text or "").rpartition("/")[2])
        letters, longs = CODE_OPTIONS[name]
        code = self._code(call, letters, longs)
        if code is not None and not _is_harmless(name, code.text):
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
        from .inline import awk_writes  # rare, and every hook pays for each module

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
        from .inline import sed_writes

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


def _is_harmless(language: str, code: str | None) -> bool:
    from .inline import is_harmless

    return code is not None and is_harmless(language, code)


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
