"""Take the options of a program apart from its plain arguments, by its line in the table of programs."""

from __future__ import annotations

from .analysis import ANY, CREATE, DELETE, READ, WRITE
from .fields import Field
from .programs import TEXT_OPTIONS

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


class Parsed:
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


def by_spec(spec: str, fields: list[Field]) -> list[Argument]:
    parsed = parse(spec, fields)
    return parsed.found + plain_arguments(spec[0], parsed)


def parse(spec: str, fields: list[Field]) -> Parsed:
    parsed = Parsed(spec)
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
            read = long_option if text.startswith("--") else short_options
            if read(parsed, field, text, follower):
                at += 1
    return parsed


def long_option(parsed: Parsed, field: Field, text: str, follower: Field | None) -> bool:
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


def short_options(parsed: Parsed, field: Field, text: str, follower: Field | None) -> bool:
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


def plain_arguments(kind: str, parsed: Parsed) -> list[Argument]:
    plain = parsed.plain
    if kind == "T" or not plain:
        return []
    if kind in "GH":
        skipped = plain if parsed.replaces_first or "reference" in parsed.names else plain[1:]
        return [Argument(field, 0, READ if kind == "G" else WRITE) for field in skipped]
    if kind in "PML":
        return copied(kind, parsed)
    return [Argument(field, 0, MODES[kind]) for field in plain if field.text != "-" and not is_url(field)]


def copied(kind: str, parsed: Parsed) -> list[Argument]:
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
