"""Read the arguments of a program: which of them are paths, from where in the word, and for what."""

from __future__ import annotations

from .analysis import ANY, APPEND, CREATE, DELETE, READ, WRITE
from .fields import Field
from .programs import PROGRAMS, REMOTE, SPECIAL_AS, TEXT_OPTIONS

MODES = {
    "D": DELETE,
    "C": CREATE,
    "W": WRITE,
    "R": READ,
    "A": ANY,
    "<": READ,
    ">": WRITE,
    "=": ANY,
    "^": WRITE,
    "@": READ,
}


class Argument:
    """A path among the arguments. `is_glued`: -I/path, which is judged but never rewritten."""

    __slots__ = ("field", "is_glued", "mode", "offset")

    def __init__(self, field: Field, offset: int, mode: str, is_glued: bool = False) -> None:
        self.field = field
        self.offset = offset
        self.mode = mode
        self.is_glued = is_glued


class _Parsed:
    """Plain arguments and options, apart."""

    __slots__ = ("flags", "found", "into", "longs", "names", "plain", "replaces_first", "shorts")

    def __init__(self, spec: str) -> None:
        words = spec.split(" ")[1:]
        self.shorts = words.pop(0) if words and words[0][1:2] in MODES_OF_OPTIONS else ""
        self.longs = words
        self.plain: list[Field] = []
        self.found: list[Argument] = []
        self.flags = ""  # letters of all short options
        self.names: list[str] = []  # of all long options
        self.into: Field | None = None  # cp -t
        self.replaces_first = False

    def short(self, letter: str) -> str:
        at = self.shorts[0::2].find(letter)
        return self.shorts[2 * at + 1] if at >= 0 else ""

    def long(self, name: str) -> str:
        for word in self.longs:
            if word[:-1] == name:
                return word[-1]
        return ""

    def take(self, kind: str, field: Field, offset: int, is_glued: bool = False) -> None:
        if kind == "^":
            self.into = field
        self.replaces_first = self.replaces_first or kind in "!@"
        if kind not in ":!" and field.text != "-":
            self.found.append(Argument(field, offset, MODES[kind], is_glued))


MODES_OF_OPTIONS = (":", "<", ">", "=", "^", "!", "@")


def arguments(name: str, fields: list[Field]) -> list[Argument]:
    """The paths that `name` is given in fields[1:]."""
    name = SPECIAL_AS.get(name, name)
    if name.startswith("python3"):
        name = "python"
    special = SPECIAL.get(name)
    if special is not None:
        return special(fields)
    if name in REMOTE:
        return []
    return _by_spec(PROGRAMS.get(name, "A"), fields)


def _by_spec(spec: str, fields: list[Field]) -> list[Argument]:
    parsed = _parse(spec, fields)
    return parsed.found + _plain(spec[0], parsed)


def _parse(spec: str, fields: list[Field]) -> _Parsed:
    parsed = _Parsed(spec)
    at, count = 1, len(fields)
    while at < count:
        field = fields[at]
        text = field.stem
        at += 1
        if text is None or text == "-" or not text.startswith("-"):
            parsed.plain.append(field)
        elif text == "--":
            parsed.plain.extend(fields[at:])
            break
        else:
            follower = fields[at] if at < count else None
            read = _long_option if text.startswith("--") else _short_options
            if read(parsed, field, text, follower):
                at += 1
    return parsed


def _long_option(parsed: _Parsed, field: Field, text: str, follower: Field | None) -> bool:
    """True if it took the next argument too."""
    name, equals, value = text[2:].partition("=")
    kind = parsed.long(name) or (":" if name in TEXT_OPTIONS else "")
    parsed.names.append(name)
    if equals:
        if value:
            parsed.take(kind or ("=" if "/" in value or value.startswith("~") else ":"), field, len(name) + 3)
        return False
    if not kind or follower is None:
        return False
    parsed.take(kind, follower, 0)
    return True


def _short_options(parsed: _Parsed, field: Field, text: str, follower: Field | None) -> bool:
    for at in range(1, len(text)):
        kind = parsed.short(text[at])
        parsed.flags += text[at]
        if kind and at + 1 < len(text):
            parsed.take(kind, field, at + 1, is_glued=True)
            return False
        if kind and follower is not None:
            parsed.take(kind, follower, 0)
            return True
        if text[at] == "/" or text.startswith("../", at):
            parsed.take("=", field, at, is_glued=True)
            return False
    return False


def _plain(kind: str, parsed: _Parsed) -> list[Argument]:
    plain = parsed.plain
    if kind == "T" or not plain:
        return []
    if kind in "GH":
        skipped = plain if parsed.replaces_first or "reference" in parsed.names else plain[1:]
        return [Argument(field, 0, READ if kind == "G" else WRITE) for field in skipped]
    if kind in "PML":
        return _copied(kind, parsed)
    return [Argument(field, 0, MODES[kind]) for field in plain if field.text != "-" and not is_url(field)]


def _copied(kind: str, parsed: _Parsed) -> list[Argument]:
    plain = parsed.plain
    if not plain:
        return []
    source = DELETE if kind == "M" else READ
    if parsed.into is not None:
        return [Argument(field, 0, source) for field in plain]
    if len(plain) == 1 and kind == "L":
        here = Field(".", None)
        return [Argument(plain[0], 0, READ), Argument(here, 0, WRITE)]
    return [Argument(field, 0, source) for field in plain[:-1]] + [Argument(plain[-1], 0, WRITE)]


def is_url(field: Field) -> bool:
    return field.text is not None and "://" in field.text


def is_elsewhere(field: Field) -> bool:
    """host:path, as scp and rsync write it."""
    head = (field.stem or "").partition("/")[0]
    return ":" in head or is_url(field)


def _install(fields: list[Field]) -> list[Argument]:
    parsed = _parse(PROGRAMS["install"], fields)
    if "d" in parsed.flags or "directory" in parsed.names:
        return parsed.found + [Argument(field, 0, CREATE) for field in parsed.plain]
    return parsed.found + _copied("P", parsed)


def _tee(fields: list[Field]) -> list[Argument]:
    parsed = _parse("W", fields)
    mode = APPEND if "a" in parsed.flags or "append" in parsed.names else WRITE
    return [Argument(field, 0, mode) for field in parsed.plain]


def _sed(fields: list[Field]) -> list[Argument]:
    given = [Field("-i", None) if (field.text or "").startswith("-i") else field for field in fields]
    parsed = _parse(PROGRAMS["sed"], given)
    in_place = "i" in parsed.flags or "in-place" in parsed.names
    if in_place and parsed.plain and parsed.plain[0].text == "":  # as BSD wants it: sed -i '' script file
        parsed.plain.pop(0)
    files = _plain("G", parsed)
    for argument in files:
        argument.mode = WRITE if in_place else READ
    return parsed.found + files


def _awk(fields: list[Field]) -> list[Argument]:
    in_place = any(field.text in ("inplace", "-iinplace") for field in fields)
    found = _by_spec(PROGRAMS["awk"], fields)
    if in_place:
        for argument in found:
            argument.mode = WRITE
    return found


def _dd(fields: list[Field]) -> list[Argument]:
    found = []
    for field in fields[1:]:
        text = field.stem
        if text is None:
            found.append(Argument(field, 0, WRITE))
        elif text.startswith(("of=", "if=")):
            found.append(Argument(field, 3, WRITE if text[0] == "o" else READ))
    return found


def _tar(fields: list[Field]) -> list[Argument]:
    first = fields[1] if len(fields) > 1 else None
    given = fields
    if first is not None and first.text and not first.text.startswith("-"):  # tar xzf file
        dashed = Field("-" + first.text, None)
        given = [fields[0], dashed, *fields[2:]]
    parsed = _parse(PROGRAMS["tar"], given)
    flags = parsed.flags
    extracts = "x" in flags or "extract" in parsed.names or "get" in parsed.names
    creates = not extracts and ("c" in flags or "r" in flags or "u" in flags or "create" in parsed.names)
    for argument in parsed.found:
        if argument.field is parsed.into:
            argument.mode = WRITE if extracts else READ
        elif argument.mode == ANY:
            argument.mode = WRITE if creates else READ
    if creates:
        return parsed.found + [Argument(field, 0, READ) for field in parsed.plain]
    if extracts and parsed.into is None and "O" not in flags:
        parsed.found.append(Argument(Field(".", None), 0, WRITE))
    return parsed.found


def _git(fields: list[Field]) -> list[Argument]:
    parsed = _Parsed("A C=c: git-dir= work-tree= exec-path: namespace:")
    at = 1
    while at < len(fields):
        text = fields[at].text
        if text is None:
            return [Argument(field, 0, ANY) for field in fields[at:]]
        if not text.startswith("-"):
            break
        follower = fields[at + 1] if at + 1 < len(fields) else None
        read = _long_option if text.startswith("--") else _short_options
        at += 2 if read(parsed, fields[at], text, follower) else 1
    if at >= len(fields):
        return parsed.found
    command = fields[at].text
    if command == "clone":
        return parsed.found + _git_clone(fields[at:])
    return parsed.found + _by_spec(PROGRAMS.get(f"git-{command}", PROGRAMS["git"]), fields[at:])


def _git_clone(fields: list[Field]) -> list[Argument]:
    parsed = _parse(PROGRAMS["git-clone"], fields)
    sources = [Argument(field, 0, READ) for field in parsed.plain[:1] if not is_elsewhere(field)]
    return parsed.found + sources + [Argument(field, 0, CREATE) for field in parsed.plain[1:]]


def _copy_between_machines(fields: list[Field]) -> list[Argument]:
    found = _by_spec(PROGRAMS[fields[0].text.rsplit("/", 1)[-1] if fields[0].text else "scp"], fields)
    return [argument for argument in found if not is_elsewhere(argument.field)]


SPECIAL = {
    "install": _install,
    "tee": _tee,
    "sed": _sed,
    "awk": _awk,
    "dd": _dd,
    "tar": _tar,
    "git": _git,
    "scp": _copy_between_machines,
    "rsync": _copy_between_machines,
}
