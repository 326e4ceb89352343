"""From words to the arguments that a program is given: braces, tildes, parameters, splitting, patterns."""

from __future__ import annotations

from ..nouns.fields import Builder, Field, is_other_in_zsh
from ..nouns.state import UNKNOWN, State, Value, merged
from ..shell.syntax import ARITHMETIC, COMMAND, LITERAL, PARAMETER, PROCESS, TILDE, Part, Sequence, Word

NUMBERS = frozenset(
    ("$", "?", "!", "#", "RANDOM", "SECONDS", "UID", "EUID", "PPID", "BASHPID", "LINENO", "EPOCHSECONDS")
)
SHELLS_OWN = frozenset(("-", "_", "OLDPWD", "BASH", "REPLY", "IFS", "FUNCNAME", "BASH_SOURCE", "PIPESTATUS"))
MAX_FIELDS = 256


class Expander:
    """Turns words into fields. What runs commands is left to the Follower."""

    home: str
    source: str
    environment: dict[str, str]

    def __init__(self) -> None:
        self.assigned: dict[str, Value] = {}  # by ${x:=y} and arithmetic, until the command takes them over
        self.processes = 0  # <(...) and >(...) of this command so far
        self.doubted = ""  # why no allow can be given any more, likewise

    def refuse(self, why: str) -> None:
        raise NotImplementedError

    def run_inner(self, body: Sequence, source: str, state: State) -> None:
        raise NotImplementedError

    def fields(self, word: Word, state: State) -> list[Field]:
        if word.text is not None:
            if word.text[0:1] == "=" and len(word.text) > 1 and not word.parts[0].quote:
                self.doubted = self.doubted or "zsh reads this as something else"  # =ls is /bin/ls
            return [Field(word.text, word)]
        variants = [word.parts]
        if word.magic and any(not part.quote and "{" in part.text for part in word.parts if part.kind == LITERAL):
            from .braces import braces  # rare, and every hook pays for each module

            expanded = braces(word.parts)
            if expanded is None:
                return [Field(None, word)]
            variants = expanded
        builder = Builder(word)
        for parts in variants:
            self._build(builder, parts, state)
            builder.close()
            if len(builder.fields) > MAX_FIELDS:
                return [Field(None, word)]
        return builder.fields

    def single(self, parts: list[Part], word: Word | None, state: State) -> Field:
        """As in an assignment: nothing is split, no pattern means anything."""
        builder = Builder(word)
        builder.is_single = True
        self._build(builder, parts, state, splits=False)
        builder.is_open = True
        builder.pattern_at = -1 if not builder.stem_only else builder.pattern_at
        builder.close()
        return builder.fields[0]

    def _build(self, builder: Builder, parts: list[Part], state: State, splits: bool = True) -> None:
        before: Part | None = None
        for part in parts:
            kind = part.kind
            if kind == LITERAL:
                if (before is None and part.text[0:1] == "=" and splits) or is_other_in_zsh(before, part):
                    self.doubted = self.doubted or "zsh reads this as something else"
                builder.add(part.text, is_pattern=splits and not part.quote)
            elif kind == PARAMETER:
                self._add_parameter(builder, part, state, splits and not part.quote)
            elif kind == COMMAND and part.body is not None:
                self._add_command(builder, part, state)
            elif kind == PROCESS and part.body is not None:
                number = self.processes
                self.run_inner(part.body, "", state)
                builder.add(f"/dev/fd/{63 - number}")
                self.processes = number + 1
            elif kind == TILDE:
                self._add_tilde(builder, part.text, state)
            elif kind == ARITHMETIC:
                self.discard(part.parts, state)
                self.calculate(part.start, part.end, state)
                builder.add_number()
            before = part

    def _add_parameter(self, builder: Builder, part: Part, state: State, splits: bool) -> None:
        if part.text in ("@", "*") and not part.op:
            if builder.is_single or (part.text == "*" and part.quote):
                self._add_joined(builder, state)
            else:
                self._add_positional(builder, part.quote == '"', state)
            return
        if (part.op == "" and part.text in NUMBERS and part.text not in state.variables) or part.op == "#":
            self.discard(part.parts, state)
            builder.add_number()
            return
        value = self.parameter(part, state)
        builder.sites = merged(builder.sites, value.sites)
        if value.text is None and value.stem is not None and not splits:
            builder.add_stem(value.stem, value.pattern_at)
        elif value.text is None or (splits and value.text and "IFS" in state.variables):
            builder.add_unknown()
        elif splits:
            builder.split(value.text)
        else:
            builder.add(value.text)

    def _add_joined(self, builder: Builder, state: State) -> None:
        """ "$*", and either of them where nothing is split: one text with blanks between."""
        known = state.positional
        if known is None or None in known or "IFS" in state.variables or state.forgets:
            builder.add_unknown()
        else:
            builder.add(" ".join([text or "" for text in known]))

    def _add_positional(self, builder: Builder, is_exact: bool, state: State) -> None:
        """ "$@" is one field each; anything else is known only when nothing could be split."""
        known = state.positional
        if (
            known is None
            or len(known) > MAX_FIELDS
            or None in known
            or not (is_exact or all(text and text.isalnum() for text in known if text))
        ):
            builder.add_unknown()
            return
        for at, text in enumerate(known):
            if at:
                builder.close()
            builder.add(text or "")

    def _add_command(self, builder: Builder, part: Part, state: State) -> None:
        assert part.body is not None
        self.run_inner(part.body, part.text, state)
        source = (part.text or self.source)[part.body.start : part.body.end].strip()
        if source == "pwd" and len(state.cwds) == 1 and state.cwds[0] is not None and "pwd" not in state.functions:
            builder.add(state.cwds[0])
        elif source.startswith("date +%") and all(c in "%YmdHMSsNjFT_-" for c in source[6:]):
            builder.add_number()  # a date without a slash: some name, never a way up
        else:
            builder.add_unknown()

    def _add_tilde(self, builder: Builder, user: str, state: State) -> None:
        if user == "":
            home = self.variable("HOME", state).text
        elif user == "+" and len(state.cwds) == 1:
            home = state.cwds[0]
        else:
            home = None
        if home is None:
            builder.add_unknown()
        else:
            builder.add(home)

    def variable(self, name: str, state: State) -> Value:
        """UNKNOWN where the line does not set it and the environment does not hold it: a start-up file may."""
        value = self.assigned.get(name) or state.variables.get(name)
        if value is not None:
            return value
        if name == "PWD" and len(state.cwds) == 1:
            return Value(state.cwds[0])
        if state.forgets or name in SHELLS_OWN or name == "PWD":
            return UNKNOWN
        if name == "HOME":
            return Value(self.home)
        if name.isdigit():
            at, known = int(name) - 1, state.positional
            if known is None or at < 0:
                return UNKNOWN
            return Value(known[at]) if at < len(known) else Value("")
        text = self.environment.get(name)
        return UNKNOWN if text is None else Value(text)

    def parameter(self, part: Part, state: State) -> Value:
        value = self.variable(part.text, state)
        op = part.op
        if not op:
            return value
        if op in ("!", "other") or op.endswith("?"):
            self.discard(part.parts, state)
            if op == "other":
                self._transform(part, state)
            return value if op.endswith("?") and value.text else UNKNOWN
        operand = self.single(part.parts, None, state)
        if value.text is None:
            return UNKNOWN if "=" not in op else self._assign(part.text, UNKNOWN)
        is_filled = value.text != ""  # unset and empty are the same to ":-", and we know no other unset ones
        if op.endswith("+"):
            return Value(operand.text) if is_filled else Value("")
        if is_filled or not op.startswith(":"):
            return value if is_filled else UNKNOWN
        return self._assign(part.text, Value(operand.text)) if op == ":=" else Value(operand.text)

    def _assign(self, name: str, value: Value) -> Value:
        self.assigned[name] = value
        return value

    def discard(self, parts: list[Part], state: State) -> None:
        """Run the substitutions; what they give does not matter."""
        if parts:
            self.single(parts, None, state)

    def _transform(self, part: Part, state: State) -> None:
        """Subscripts and offsets are calculated; @P runs what the value holds."""
        text = self.source[part.start : part.end]
        if text.endswith("@P}"):
            self.refuse("a value is expanded as a prompt")
        if "[" in text or ":" in text:
            self.calculate(part.start + len(part.text) + 2, part.end, state)

    def calculate(self, start: int, end: int, state: State) -> None:
        """Every name in it counts as changed if anything is; a value that is no number may be a formula with code."""
        text = self.source[start:end]
        bare = text.replace("==", "").replace("<=", "").replace(">=", "").replace("!=", "")
        is_changed = "=" in bare or "++" in bare or "--" in bare
        for name in names_in(text):
            value = self.variable(name, state)
            if value.text is None or not value.text.isdigit():
                self.doubted = self.doubted or "a value that is calculated is not known"
                self.refuse_text(value.text)
            if is_changed:
                self.assigned[name] = UNKNOWN

    def refuse_code(self, parts: list[Part]) -> None:
        """A quoted subscript is expanded once more when it is calculated."""
        for part in parts:
            if part.kind == LITERAL:
                self.refuse_text(part.text)

    def refuse_text(self, text: str | None) -> None:
        if text is not None and "[" in text and ("$(" in text or "`" in text):
            self.refuse("a subscript runs code")


def names_in(text: str) -> list[str]:
    """The names of variables in a formula."""
    found, name = [], ""
    for c in text + " ":
        if c.isalnum() or c == "_":
            name += c
        else:
            if name and not name[0].isdigit():
                found.append(name)
            name = ""
    return found
