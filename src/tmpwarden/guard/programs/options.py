"""Take the options of a program apart from its plain arguments, by its line in the table of programs."""

from __future__ import annotations

from ..nouns.analysis import ANY, CODE, CREATE, DELETE, READ, WRITE
from ..nouns.fields import Field
from ..nouns.paths import is_sink
from .table import TEXT_OPTIONS, Program

# what becomes of a path: by what an option's value is, and by what the plain arguments are
OPTION_MODES = {
    "path_read": READ, "path_written": WRITE, "path": ANY, "path_into": WRITE, "pattern_file": READ, "code": CODE,
}  # fmt: skip
PLAIN_MODES = {"deleted": DELETE, "created": CREATE, "written": WRITE, "read": READ, "any": ANY}


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

    __slots__ = ("flags", "into", "known", "moves", "names", "paths", "plain", "replaces_first")

    def __init__(self, known: Program) -> None:
        self.known = known
        self.plain: list[Field] = []
        self.paths: list[Argument] = []
        self.flags = ""  # letters of all short options
        self.names: list[str] = []  # of all long options
        self.into: Field | None = None  # cp -t
        self.moves: tuple[Field, int] | None = None  # env -C
        self.replaces_first = False

    def has(self, *options: str) -> bool:
        """Is any of these options given, a long one by its beginning at least?"""
        return any(option in self.flags for option in options if len(option) == 1) or any(
            option.startswith(name) for name in self.names for option in options if len(option) > 1
        )

    def take(self, kind: str, field: Field, offset: int, is_glued: bool = False) -> None:
        if kind == "path_into":
            self.into = field
        elif kind in ("pattern", "pattern_file"):
            self.replaces_first = True
        elif kind == "path_entered":
            self.moves = (field, offset)
        if kind in OPTION_MODES and field.text != "-":
            self.paths.append(Argument(field, offset, OPTION_MODES[kind], is_glued))


def by_row(known: Program, fields: list[Field]) -> list[Argument]:
    parsed = parse(known, fields)
    paths = parsed.paths + plain_arguments(known.plain, parsed)
    return [*paths, Argument(Field(".", None), 0, WRITE)] if _writes_here(parsed) else paths


def _writes_here(parsed: Parsed) -> bool:
    """Into the directory that it runs in."""
    facets = parsed.known.facets
    if parsed.into is not None:
        return False
    if "writes_here_only_with" in facets:
        return parsed.has(*facets["writes_here_only_with"])
    if "writes_here_unless" in facets:
        return not parsed.has(*facets["writes_here_unless"])
    return "writes_here" in facets


def parse(known: Program, fields: list[Field]) -> Parsed:
    parsed = Parsed(known)
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
    kind = parsed.known.long(text[: len(name) + 1]) if len(name) > 1 else ""
    if kind and (equals or follower is not None):  # -out FILE, as openssl and terraform write it
        parsed.take(kind, field if equals else follower or field, len(name) + 2 if equals else 0)
        return not equals
    if equals and len(name) > 1 and name[0] not in parsed.known.shorts and ("/" in value or value.startswith("~")):
        parsed.take("path", field, len(name) + 2)
        return False
    return short_options(parsed, field, text, follower)


def long_option(parsed: Parsed, field: Field, text: str, follower: Field | None) -> bool:
    """True if it took the next argument too."""
    name, equals, value = text[2:].partition("=")
    kind = parsed.known.long(name) or ("text" if name in TEXT_OPTIONS else "")
    parsed.names.append(name)
    if equals:
        if value:
            is_path = "/" in value or value.startswith("~")
            parsed.take(("path" if is_path else "text") if kind in ("", "bare") else kind, field, len(name) + 3)
        return False
    if kind in ("", "bare", "glued") or follower is None:
        return False
    parsed.take(kind, follower, 0)
    return True


def short_options(parsed: Parsed, field: Field, text: str, follower: Field | None) -> bool:
    for at in range(1, len(text)):
        kind = parsed.known.shorts.get(text[at], "bare")
        parsed.flags += text[at]
        if kind != "bare" and at + 1 < len(text):
            parsed.take(kind, field, at + 1, is_glued=kind not in ("path_written", "path_into", "path_entered"))
            return False
        if kind not in ("bare", "glued") and follower is not None:
            parsed.take(kind, follower, 0)
            return True
        if text[at] == "/" or text.startswith("../", at):
            parsed.take("path", field, at, is_glued=True)
            return False
    return False


_NO_MODE = frozenset("rwxXst")  # letters of modes; of chmod, chown and chgrp none is an option


def plain_arguments(kind: str, parsed: Parsed) -> list[Argument]:
    plain = parsed.plain
    if kind == "text" or not plain:
        return []
    if kind in ("pattern_then_read", "mode_then_written"):
        is_mode_given = kind == "mode_then_written" and not _NO_MODE.isdisjoint(parsed.flags)  # chmod -x FILE
        files = plain if parsed.replaces_first or is_mode_given or "reference" in parsed.names else plain[1:]
        if kind == "pattern_then_read":
            return [Argument(field, 0, READ) for field in files]
        # the mode of /dev/null is everybody's: to change it is no writing to it
        return [Argument(field, 0, DELETE if is_sink(field.text or "") else WRITE) for field in files]
    if kind in ("copied", "moved", "linked"):
        return copy_arguments(kind, parsed)
    if kind == "first_read":
        return [Argument(field, 0, READ if not at else WRITE) for at, field in enumerate(plain) if field.text != "-"]
    if kind == "first_written":
        return [Argument(plain[0], 0, WRITE)] + [Argument(field, 0, READ) for field in plain[1:]]
    mode = PLAIN_MODES[kind]
    if kind in ("deleted", "created"):  # to rm and mkdir - is a file, and a://b a path
        return [Argument(field, 0, mode) for field in plain]
    files = [field for field in plain if field.text != "-"]
    return [Argument(field, 0, mode) for field in files if kind == "written" or not is_url(field)]


def copy_arguments(kind: str, parsed: Parsed) -> list[Argument]:
    plain = parsed.plain
    if not plain:
        return []
    source = DELETE if kind == "moved" else READ
    if parsed.into is not None:
        return [Argument(field, 0, source) for field in plain]
    if len(plain) == 1 and kind == "linked":
        here = Field(".", None)
        return [Argument(plain[0], 0, READ), Argument(here, 0, WRITE)]
    # moving and linking put another entry in its place: they are the end of /dev/null, which cp is not
    target = DELETE if kind != "copied" and is_sink(plain[-1].text or "") else WRITE
    return [Argument(field, 0, source) for field in plain[:-1]] + [Argument(plain[-1], 0, target)]


def is_url(field: Field) -> bool:
    return field.text is not None and "://" in field.text


def is_on_a_host(field: Field) -> bool:
    """host:path, as scp and rsync write it."""
    head = (field.stem or "").partition("/")[0]
    return ":" in head or is_url(field)
