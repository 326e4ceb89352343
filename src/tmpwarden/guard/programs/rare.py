"""Arguments that are seldom met, and what is taken for a path of programs that nobody wrote a row for."""

from __future__ import annotations

from ..nouns.analysis import ANY, CREATE, DELETE, READ, WRITE
from ..nouns.fields import Field
from ..nouns.names import names
from .options import Argument, Parsed, by_row, is_on_a_host, is_url, parse
from .table import Program, program

# what programs call the place they write to
OUTPUTS = names("out output outfile outdir dest destination output-dir output-file out-dir out-file output-path")
PATHS, COPIED, MOVED = Program("any"), Program("copied"), Program("moved")
_ARCHIVER = Program("any", (("path_written", ("o",)),))
_GIO = {"trash": DELETE, "remove": DELETE, "mkdir": CREATE, "save": WRITE, "rename": WRITE, "set": WRITE}
_RCLONE_DELETES = ("delete", "purge", "rmdir", "rmdirs", "deletefile", "cleanup", "mkdir", "touch", "dedupe")
_RCLONE_COPIES = ("copy", "copyto", "sync", "bisync", "move", "moveto")
_ASKING = ("select", ".", "pragma", "explain", "with")


def rare(name: str, known: Program, fields: list[Field]) -> list[Argument]:
    """The paths of a program with a reader down here, or with no arguments in its row."""
    if name.startswith("mkfs."):
        return by_row(program("mkfs"), fields)
    reader = READERS.get(known.text("reads"))
    return reader(known, fields) if reader is not None else _written_by_name(by_row(PATHS, fields), fields)


def _written_by_name(found: list[Argument], fields: list[Field]) -> list[Argument]:
    """-o FILE and --output FILE are written, whoever the program is."""
    by_field = {id(argument.field): argument for argument in found}
    for at, field in enumerate(fields):
        text = field.text or ""
        name, equals, _ = text.lstrip("-").partition("=")
        if not text.startswith("-") or not (name.lower() in OUTPUTS or text == "-o"):
            continue
        target = field if equals else fields[at + 1] if at + 1 < len(fields) else field
        argument = by_field.get(id(target))
        if argument is not None and argument.mode == ANY and (text != "-o" or "/" in (target.stem or "")):
            argument.mode = WRITE
    return found


def _archiver(known: Program, fields: list[Field]) -> list[Argument]:
    """7z a ARCHIVE FILE..., 7z x ARCHIVE -oDIR, rar, unrar, ar."""
    parsed = Parsed(known)
    plain = parse(_ARCHIVER, fields).plain
    for field in fields[1:]:
        if (field.stem or "").startswith("-o") and len(field.stem or "") > 2:
            parsed.take("path_written", field, 2)
    command = (plain[0].text or "") if plain else ""
    if command[:1] in ("x", "e"):
        last = plain[-1] if len(plain) > 2 and (plain[-1].stem or "").endswith("/") else None
        target = [] if parsed.found else [Argument(last or Field(".", None), 0, WRITE)]
        return parsed.found + target + [Argument(field, 0, READ) for field in plain[1:2]]
    mode = READ if command[:1] in ("l", "t", "p", "") else WRITE
    return [Argument(field, 0, mode) for field in plain[1:2]] + [Argument(field, 0, READ) for field in plain[2:]]


def _zip(known: Program, fields: list[Field]) -> list[Argument]:
    parsed = parse(known, fields)
    sources = DELETE if parsed.has("m", "move") else READ
    return [Argument(field, 0, WRITE if not at else sources) for at, field in enumerate(parsed.plain)]


def _split(known: Program, fields: list[Field]) -> list[Argument]:
    """split FILE PREFIX; without a prefix it writes here."""
    plain = parse(known, fields).plain
    target = plain[1] if len(plain) > 1 else Field(".", None)
    return [Argument(field, 0, READ) for field in plain[:1]] + [Argument(target, 0, WRITE)]


def _gio(known: Program, fields: list[Field]) -> list[Argument]:
    command = (fields[1].text or "") if len(fields) > 1 else ""
    if command in ("copy", "move"):
        return by_row(COPIED if command == "copy" else MOVED, fields[1:])
    mode = _GIO.get(command, READ)
    return [Argument(field, 0, mode) for field in parse(PATHS, fields[1:]).plain if not is_url(field)]


def _rclone(known: Program, fields: list[Field]) -> list[Argument]:
    """remote:path is elsewhere."""
    command = (fields[1].text or "") if len(fields) > 1 else ""
    plain = parse(PATHS, fields[1:]).plain
    if command in _RCLONE_DELETES:
        found = [Argument(field, 0, DELETE) for field in plain]
    elif command in _RCLONE_COPIES:
        source = DELETE if command.startswith("move") else READ
        found = [Argument(field, 0, WRITE if field is plain[-1] else source) for field in plain]
    else:
        found = [Argument(field, 0, READ) for field in plain]
    return [argument for argument in found if not is_on_a_host(argument.field)]


def _sqlite3(known: Program, fields: list[Field]) -> list[Argument]:
    """Statements that only ask leave the database as it is."""
    parsed = parse(known, fields)
    statements = [field.text for field in parsed.plain[1:]]
    asks = all(text is not None and text.lstrip().lower().startswith(_ASKING) for text in statements)
    is_readonly = any(field.text in ("-readonly", "--readonly") for field in fields)
    mode = READ if is_readonly or (statements and asks) else WRITE if statements else ANY
    return [Argument(field, 0, mode) for field in parsed.plain[:1]] + parsed.found


def _archive_module(known: Program, fields: list[Field]) -> list[Argument]:
    """python -m zipfile and tarfile: -c ARCHIVE FILE..., -e ARCHIVE DIRECTORY."""
    parsed = parse(PATHS, fields)
    plain = parsed.plain
    if parsed.has("e", "extract"):
        return [Argument(field, 0, WRITE) for field in plain[1:2] or [Field(".", None)]]
    return [
        Argument(field, 0, WRITE if not at and parsed.has("c", "create") else READ) for at, field in enumerate(plain)
    ]


def _ssh_keygen(known: Program, fields: list[Field]) -> list[Argument]:
    parsed = parse(known, fields)
    if parsed.has("l", "y", "F", "H", "e", "B"):
        for argument in parsed.found:
            argument.mode = READ
    return parsed.found


READERS = {
    "archive_module": _archive_module, "archiver": _archiver, "gio": _gio, "rclone": _rclone, "split": _split,
    "sqlite3": _sqlite3, "ssh_keygen": _ssh_keygen, "zip": _zip,
}  # fmt: skip
