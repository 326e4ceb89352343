"""Read the arguments of a program: which of them are paths, from where in the word, and for what."""

from __future__ import annotations

from ..nouns.analysis import ANY, APPEND, CODE, CREATE, DELETE, READ, WRITE
from ..nouns.fields import Field
from ..nouns.names import names
from ..shell.syntax import FILE_COMPARISONS, FILE_TESTS
from .options import Argument, Parsed, by_row, copy_arguments, is_on_a_host, is_url, parse, plain_arguments
from .table import Program, program

# what programs call the place they write to: the whole name, or a word in it that ends in one of the others
OUTPUTS = names(
    "out output outputs outfile outdir dest destination log logs logfile cache target prefix scratch basetemp "
    "derived dump save export"
)
PLACES = names("file dir directory path root folder base data")
MAKING = names("new init create scaffold startproject startapp degit")
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
    reader = RARE_READERS.get(known.text("reads"))
    return reader(known, fields) if reader is not None else _written_by_name(by_row(PATHS, fields), fields)


def _written_by_name(paths: list[Argument], fields: list[Field]) -> list[Argument]:
    """-o FILE and --output FILE are written, by any program; what stands behind `new` or `create` is made."""
    by_field = {id(argument.field): argument for argument in paths}
    is_making = False
    for at, field in enumerate(fields):
        text = field.text or ""
        if is_making and (made := by_field.get(id(field))) is not None and made.mode == ANY and text[:1] != "-":
            made.mode = CREATE
        is_making = is_making or (at < 4 and _is_making(text.rpartition("/")[2]))
        name, equals, _ = text.lstrip("-").partition("=")
        if not text.startswith("-") or not (text == "-o" or _is_output(name)):
            continue
        target = field if equals else fields[at + 1] if at + 1 < len(fields) else field
        argument = by_field.get(id(target))
        if argument is not None and argument.mode == ANY and (text != "-o" or "/" in (target.stem or "")):
            argument.mode = WRITE
    return paths


def _is_making(word: str) -> bool:
    """mix phx.new, django-admin startproject, npm create, create-next-app"""
    return word in MAKING or word.startswith("create-") or word.endswith((".new", ":new"))


def _is_output(option: str) -> bool:
    """--output, --log-file, --cache_dir, -derivedDataPath."""
    spaced = "".join([f" {c.lower()}" if c.isupper() else c for c in option])
    words = spaced.replace("-", " ").replace("_", " ").split()
    return bool(words) and not OUTPUTS.isdisjoint(words) and words[-1] in OUTPUTS | PLACES


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
        target = [] if parsed.paths else [Argument(last or Field(".", None), 0, WRITE)]
        return parsed.paths + target + [Argument(field, 0, READ) for field in plain[1:2]]
    mode = READ if command[:1] in ("l", "t", "p", "") else WRITE
    return [Argument(field, 0, mode) for field in plain[1:2]] + [Argument(field, 0, READ) for field in plain[2:]]


def _zip(known: Program, fields: list[Field]) -> list[Argument]:
    parsed = parse(known, fields)
    sources = DELETE if parsed.has("m", "move") else READ
    return parsed.paths + [Argument(field, 0, WRITE if not at else sources) for at, field in enumerate(parsed.plain)]


def _split(known: Program, fields: list[Field]) -> list[Argument]:
    """split FILE PREFIX; without a prefix it writes here."""
    parsed = parse(known, fields)
    plain, run = parsed.plain, [one for one in parsed.paths if one.mode == CODE]
    target = plain[1] if len(plain) > 1 else Field(".", None)
    if run:
        return run + [Argument(field, 0, READ) for field in plain[:1]]
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
        paths = [Argument(field, 0, DELETE) for field in plain]
    elif command in _RCLONE_COPIES:
        source = DELETE if command.startswith("move") else READ
        paths = [Argument(field, 0, WRITE if field is plain[-1] else source) for field in plain]
    else:
        paths = [Argument(field, 0, READ) for field in plain]
    return [argument for argument in paths if not is_on_a_host(argument.field)]


def _sqlite3(known: Program, fields: list[Field]) -> list[Argument]:
    """Statements that only ask leave the database as it is."""
    parsed = parse(known, fields)
    statements = [field.text for field in parsed.plain[1:]]
    asks = all(text is not None and text.lstrip().lower().startswith(_ASKING) for text in statements)
    is_readonly = any(field.text in ("-readonly", "--readonly") for field in fields)
    mode = READ if is_readonly or (statements and asks) else WRITE if statements else ANY
    files = [_without_scheme(field) for field in parsed.plain[:1]]
    return [Argument(field, 0, mode) for field in files] + parsed.paths


def _without_scheme(field: Field) -> Field:
    """file:PATH?mode=rwc"""
    text = field.text or ""
    return Field(text[5:].partition("?")[0].removeprefix("//"), None) if text.startswith("file:") else field


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
        for argument in parsed.paths:
            argument.mode = READ
    return parsed.paths


RARE_READERS = {
    "archive_module": _archive_module, "archiver": _archiver, "gio": _gio, "rclone": _rclone, "split": _split,
    "sqlite3": _sqlite3, "ssh_keygen": _ssh_keygen, "zip": _zip,
}  # fmt: skip


def arguments(name: str, fields: list[Field]) -> list[Argument]:
    """The paths that `name` is given in fields[1:]."""
    known = program("python" if name.startswith("python3") else name)
    reads = known.text("reads")
    if reads in READERS:
        paths = READERS[reads](known, fields)
    elif "remote" in known.facets:
        return []
    elif known.plain and not reads and "runs" not in known.facets:
        paths = _by_row(known, fields)
        paths = _written_by_name(paths, fields) if known.plain == "any" else paths
    else:
        # every hook pays for each module

        return rare(name, known, fields) + at_files(fields)
    return paths + at_files(fields) if "at_files" in known.facets else paths


def _by_row(known: Program, fields: list[Field]) -> list[Argument]:
    paths = by_row(known, fields)
    in_place = "in_place" in known.facets
    if "writes" not in known.facets and "spares" not in known.facets and not in_place:
        return paths
    parsed = parse(known, fields)
    is_written = len(parsed.plain) == 1 if in_place else _rewrites(known, parsed)
    for argument in paths:
        if (any(argument.field is field for field in parsed.plain) and not in_place) or is_written:
            argument.mode = WRITE if is_written else READ
    return paths


def _rewrites(known: Program, parsed: Parsed) -> bool:
    """A formatter: does it write what it reads?"""
    if parsed.has(*known.values("spares")):
        return False
    first = parsed.plain[0].text if parsed.plain else ""
    return (
        "writes" not in known.facets or parsed.has(*known.values("writes")) or first in known.values("writes_commands")
    )


def _install(known: Program, fields: list[Field]) -> list[Argument]:
    parsed = parse(known, fields)
    if parsed.has("d", "directory"):
        return parsed.paths + [Argument(field, 0, CREATE) for field in parsed.plain]
    return parsed.paths + copy_arguments("copied", parsed)


def _tee(known: Program, fields: list[Field]) -> list[Argument]:
    parsed = parse(known, fields)
    mode = APPEND if parsed.has("a", "append") else WRITE
    return [Argument(field, 0, mode) for field in parsed.plain]


def _sed(known: Program, fields: list[Field]) -> list[Argument]:
    plain_fields = [Field("-i", None) if (field.text or "").startswith("-i") else field for field in fields]
    parsed = parse(known, plain_fields)
    in_place = parsed.has("i", "in-place")
    if in_place and parsed.plain and parsed.plain[0].text == "":  # as BSD wants it: sed -i '' script file
        parsed.plain.pop(0)
    files = plain_arguments(known.plain, parsed)
    for argument in files:
        argument.mode = WRITE if in_place else READ
    return parsed.paths + files


def _awk(known: Program, fields: list[Field]) -> list[Argument]:
    in_place = any(field.text in ("inplace", "-iinplace") for field in fields)
    paths = by_row(known, fields)
    if in_place:
        for argument in paths:
            argument.mode = WRITE
    return paths


def _dd(known: Program, fields: list[Field]) -> list[Argument]:
    paths = []
    for field in fields[1:]:
        text = field.stem
        if text is None:
            paths.append(Argument(field, 0, WRITE))
        elif text.startswith(("of=", "if=")):
            paths.append(Argument(field, 3, WRITE if text[0] == "o" else READ))
    return paths


def _tar(known: Program, fields: list[Field]) -> list[Argument]:
    first = fields[1] if len(fields) > 1 else None
    dashed_fields = fields
    if first is not None and first.text and not first.text.startswith("-"):  # tar xzf file
        dashed = Field("-" + first.text, None)
        dashed_fields = [fields[0], dashed, *fields[2:]]
    parsed = parse(known, dashed_fields)
    flags = parsed.flags
    extracts = "x" in flags or parsed.has("extract", "get")
    creates = not extracts and ("c" in flags or "r" in flags or "u" in flags or parsed.has("create", "append"))
    for argument in parsed.paths:
        if argument.field is parsed.into:
            argument.mode = WRITE if extracts else READ
        elif argument.mode == ANY:
            argument.mode = WRITE if creates else READ
            argument.is_glued = argument.is_glued and (argument.field.stem or "")[argument.offset - 1] != "f"
    _tar_actions(fields, parsed.paths)
    if creates:
        sources = DELETE if parsed.has("remove-files") else READ
        return parsed.paths + [Argument(field, 0, sources) for field in parsed.plain]
    if extracts and ("P" in flags or parsed.has("absolute-names")):
        parsed.paths.append(Argument(Field(None, None), 0, WRITE))  # the archive says where
    elif extracts and parsed.into is None and "O" not in flags:
        parsed.paths.append(Argument(Field(".", None), 0, WRITE))
    return parsed.paths


def _tar_actions(fields: list[Field], paths: list[Argument]) -> None:
    """--checkpoint-action=exec=CODE."""
    for field in fields:
        text = field.text or ""
        if text.startswith("--checkpoint-a") and "exec=" in text:
            paths.append(Argument(Field(text.partition("exec=")[2], None), 0, CODE))


def at_files(fields: list[Field]) -> list[Argument]:
    """@FILE and name=@FILE, as curl, gh and compilers read them."""
    paths = []
    for field in fields[1:]:
        text = field.stem or ""
        at = 0 if text.startswith("@/") else text.find("=@/") + 1
        if (at or text.startswith("@/")) and ";" not in text:
            paths.append(Argument(field, at + 1, READ))
    return paths


def _gh(known: Program, fields: list[Field]) -> list[Argument]:
    """Its words are text, but for what is uploaded."""
    paths = by_row(known, fields)
    if [field.text for field in fields[1:3]] in (["release", "upload"], ["gist", "create"]):
        plain = parse(program("gh:gist:create"), fields).plain[2:]
        paths += [Argument(field, 0, READ) for field in plain if (field.stem or "").startswith("/")]
    return paths


def _jq(known: Program, fields: list[Field]) -> list[Argument]:
    """--arg and its kin take two values."""
    paths, kept, at = [], fields[:1], 1
    while at < len(fields):
        text = fields[at].text
        if text in ("--arg", "--argjson", "--slurpfile", "--rawfile"):
            paths += [Argument(field, 0, READ) for field in fields[at + 2 : at + 3] if text.endswith("file")]
            at += 3
        else:
            kept.append(fields[at])
            at += 1
    return paths + by_row(known, kept)


def _test(known: Program, fields: list[Field]) -> list[Argument]:
    """What -f and its kin look at; the operands of = are no paths."""
    paths = []
    for at, field in enumerate(fields):
        if field.text in FILE_TESTS and at + 1 < len(fields) and fields[at + 1].text != "]":
            paths.append(Argument(fields[at + 1], 0, READ))
        elif field.text in FILE_COMPARISONS and 1 < at < len(fields) - 1:
            paths += [Argument(fields[at - 1], 0, READ), Argument(fields[at + 1], 0, READ)]
    return paths


def _perl(known: Program, fields: list[Field]) -> list[Argument]:
    """-i edits in place."""
    parsed = parse(known, fields)
    mode = WRITE if "i" in parsed.flags else READ
    return parsed.paths + [Argument(field, 0, mode) for field in parsed.plain]


def _rsync(known: Program, fields: list[Field]) -> list[Argument]:
    paths = _scp(known, fields)
    if _is_dry(fields):
        for argument in paths:
            argument.mode = READ if argument.mode != CODE else CODE
        return paths
    if any((field.text or "").startswith("--remove-s") for field in fields):
        for argument in paths:
            argument.mode = DELETE if argument.mode == READ else argument.mode
    return paths


def _is_dry(fields: list[Field]) -> bool:
    """rsync -avn, --dry-run: where it cannot be the value of another option, and none writes or takes it back."""
    texts = [field.text or "" for field in fields[1:]]
    if any(text.startswith(("--no-", "--log", "--write", "--only")) for text in texts):
        return False
    for text in texts:
        if text == "--dry-run":
            return True
        if text[:1] != "-" or not text[1:].isalpha() or any(letter in text for letter in "efBTM"):
            break
        if "n" in text:
            return True
    return texts[-1:] in (["-n"], ["--dry-run"]) and texts[-2][:1] != "-"


def _mktemp(known: Program, fields: list[Field]) -> list[Argument]:
    """Without a directory it goes where TMPDIR says."""
    parsed = parse(known, fields)
    for field in fields[1:]:
        if (field.stem or "").startswith("--tmpdir="):
            parsed.take("path_written", field, 9)
    goes_to_tmp = parsed.has("t", "p", "tmpdir")
    return parsed.paths + [Argument(field, 0, CREATE) for field in parsed.plain if not goes_to_tmp]


def _scp(known: Program, fields: list[Field]) -> list[Argument]:
    """host:path is a path of that host."""
    paths = by_row(known, fields)
    return [argument for argument in paths if not is_on_a_host(argument.field)]


READERS = {
    "install": _install, "tee": _tee, "sed": _sed, "awk": _awk, "dd": _dd, "tar": _tar, "gh": _gh, "jq": _jq,
    "test": _test, "perl": _perl, "mktemp": _mktemp, "scp": _scp, "rsync": _rsync,
}  # fmt: skip
