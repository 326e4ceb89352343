"""Take the options of a program apart from its plain arguments, by its line in the table of programs."""

from __future__ import annotations

from ..nouns.analysis import ANY, CODE, CREATE, DELETE, READ, WRITE
from ..nouns.fields import Field
from ..nouns.landing import is_sink
from .table import TEXT_OPTIONS

MODES = {
    "D": DELETE, "C": CREATE, "W": WRITE, "R": READ, "A": ANY, "<": READ, ">": WRITE, "=": ANY, "^": WRITE, "@": READ,
    "$": CODE,
}  # fmt: skip


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

    __slots__ = ("flags", "found", "has_dashed", "into", "longs", "moves", "names", "plain", "replaces_first", "shorts")

    def __init__(self, spec: str) -> None:
        words = spec.split(" ")[1:]
        self.shorts = words.pop(0) if words and words[0][1:2] in MODES_OF_OPTIONS else ""
        self.longs = words
        self.has_dashed = any(word[0] == "-" for word in words)
        self.plain: list[Field] = []
        self.found: list[Argument] = []
        self.flags = ""  # letters of all short options
        self.names: list[str] = []  # of all long options
        self.into: Field | None = None  # cp -t
        self.moves: tuple[Field, int] | None = None  # env -C
        self.replaces_first = False

    def short(self, letter: str) -> str:
        at = self.shorts[0::2].find(letter)
        return self.shorts[2 * at + 1] if at >= 0 else ""

    def long(self, name: str) -> str:
        """GNU takes any beginning of a name; where several fit, the one that writes."""
        kind = ""
        for word in self.longs:
            if word[:-1] == name:
                return word[-1]
            if word.startswith(name) and kind not in WRITTEN:
                kind = word[-1]
        return kind

    def has(self, letters: str, *names: str) -> bool:
        """Is any of these options given, a long one by its beginning at least?"""
        return any(letter in self.flags for letter in letters) or any(
            name.startswith(given) for given in self.names for name in names
        )

    def take(self, kind: str, field: Field, offset: int, is_glued: bool = False) -> None:
        if kind == "^":
            self.into = field
        self.replaces_first = self.replaces_first or kind in "!@"
        if kind == "/":
            self.moves = (field, offset)
        elif kind not in ":!?" and field.text != "-":
            self.found.append(Argument(field, offset, MODES[kind], is_glued))


MODES_OF_OPTIONS = (":", "<", ">", "=", "^", "!", "@", "$", "/", "?")
WRITTEN = (">", "^", "=")


def by_spec(spec: str, fields: list[Field]) -> list[Argument]:
    parsed = parse(spec, fields)
    return parsed.found + plain_arguments(spec[0], parsed) + _here(spec, parsed)


def _here(spec: str, parsed: Parsed) -> list[Argument]:
    """`.abc`: writes into the directory it runs in, unless a, b or c is given; `+abc`: only then."""
    mark = spec[1:2]
    if mark not in (".", "+") or parsed.into is not None:
        return []
    letters, *names = spec.partition(" ")[0][2:].split(",")
    return [Argument(Field(".", None), 0, WRITE)] if parsed.has(letters, *names) == (mark == "+") else []


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
        elif option(parsed, field, text, fields[at] if at < count else None):
            at += 1
    return parsed


def option(parsed: Parsed, field: Field, text: str, follower: Field | None) -> bool:
    """True if it took the next argument too."""
    if text.startswith("--"):
        return long_option(parsed, field, text, follower)
    name, equals, value = text[1:].partition("=")
    kind = parsed.long(text[: len(name) + 1]) if parsed.has_dashed and len(name) > 1 else ""
    if kind and (equals or follower is not None):  # -out FILE, as openssl and terraform write it
        parsed.take(kind, field if equals else follower or field, len(name) + 2 if equals else 0)
        return not equals
    if equals and len(name) > 1 and not parsed.short(name[0]) and ("/" in value or value.startswith("~")):
        parsed.take("=", field, len(name) + 2)
        return False
    return short_options(parsed, field, text, follower)


def long_option(parsed: Parsed, field: Field, text: str, follower: Field | None) -> bool:
    """True if it took the next argument too."""
    name, equals, value = text[2:].partition("=")
    kind = parsed.long(name) or (":" if name in TEXT_OPTIONS else "")
    parsed.names.append(name)
    if equals:
        if value:
            kind = "" if kind == "-" else kind
            parsed.take(kind or ("=" if "/" in value or value.startswith("~") else ":"), field, len(name) + 3)
        return False
    if not kind or kind in "-?" or follower is None:
        return False
    parsed.take(kind, follower, 0)
    return True


def short_options(parsed: Parsed, field: Field, text: str, follower: Field | None) -> bool:
    for at in range(1, len(text)):
        kind = parsed.short(text[at])
        parsed.flags += text[at]
        if kind and at + 1 < len(text):
            parsed.take(kind, field, at + 1, is_glued=kind not in ">^/")
            return False
        if kind and kind != "?" and follower is not None:
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
        # the mode of /dev/null is everybody's: to change it is no writing to it
        return [Argument(f, 0, READ if kind == "G" else DELETE if is_sink(f.text or "") else WRITE) for f in skipped]
    if kind in "PML":
        return copied(kind, parsed)
    if kind == "I":
        return [Argument(field, 0, READ if not at else WRITE) for at, field in enumerate(plain) if field.text != "-"]
    if kind == "Z":
        return [Argument(plain[0], 0, WRITE)] + [Argument(field, 0, READ) for field in plain[1:]]
    if kind in "DC":  # to rm and mkdir - is a file, and a://b a path
        return [Argument(field, 0, MODES[kind]) for field in plain]
    files = [field for field in plain if field.text != "-"]
    return [Argument(field, 0, MODES[kind]) for field in files if kind == "W" or not is_url(field)]


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
    # moving and linking put another entry in its place: they are the end of /dev/null, which cp is not
    target = DELETE if kind != "P" and is_sink(plain[-1].text or "") else WRITE
    return [Argument(field, 0, source) for field in plain[:-1]] + [Argument(plain[-1], 0, target)]


def is_url(field: Field) -> bool:
    return field.text is not None and "://" in field.text


def is_on_a_host(field: Field) -> bool:
    """host:path, as scp and rsync write it."""
    head = (field.stem or "").partition("/")[0]
    return ":" in head or is_url(field)
