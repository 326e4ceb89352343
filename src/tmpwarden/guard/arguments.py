"""Read the arguments of a program: which of them are paths, from where in the word, and for what."""

from __future__ import annotations

from .analysis import ANY, APPEND, CREATE, READ, WRITE
from .fields import Field
from .options import Argument, Parsed, by_spec, copied, is_elsewhere, long_option, parse, plain_arguments, short_options
from .programs import PROGRAMS, REMOTE, SPECIAL_AS


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
    return by_spec(PROGRAMS.get(name, "A"), fields)


def _install(fields: list[Field]) -> list[Argument]:
    parsed = parse(PROGRAMS["install"], fields)
    if "d" in parsed.flags or "directory" in parsed.names:
        return parsed.found + [Argument(field, 0, CREATE) for field in parsed.plain]
    return parsed.found + copied("P", parsed)


def _tee(fields: list[Field]) -> list[Argument]:
    parsed = parse("W", fields)
    mode = APPEND if "a" in parsed.flags or "append" in parsed.names else WRITE
    return [Argument(field, 0, mode) for field in parsed.plain]


def _sed(fields: list[Field]) -> list[Argument]:
    given = [Field("-i", None) if (field.text or "").startswith("-i") else field for field in fields]
    parsed = parse(PROGRAMS["sed"], given)
    in_place = "i" in parsed.flags or "in-place" in parsed.names
    if in_place and parsed.plain and parsed.plain[0].text == "":  # as BSD wants it: sed -i '' script file
        parsed.plain.pop(0)
    files = plain_arguments("G", parsed)
    for argument in files:
        argument.mode = WRITE if in_place else READ
    return parsed.found + files


def _awk(fields: list[Field]) -> list[Argument]:
    in_place = any(field.text in ("inplace", "-iinplace") for field in fields)
    found = by_spec(PROGRAMS["awk"], fields)
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
    parsed = parse(PROGRAMS["tar"], given)
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
    parsed = Parsed("A C=c: git-dir= work-tree= exec-path: namespace:")
    at = 1
    while at < len(fields):
        text = fields[at].text
        if text is None:
            return [Argument(field, 0, ANY) for field in fields[at:]]
        if not text.startswith("-"):
            break
        follower = fields[at + 1] if at + 1 < len(fields) else None
        read = long_option if text.startswith("--") else short_options
        at += 2 if read(parsed, fields[at], text, follower) else 1
    if at >= len(fields):
        return parsed.found
    command = fields[at].text
    if command == "clone":
        return parsed.found + _git_clone(fields[at:])
    return parsed.found + by_spec(PROGRAMS.get(f"git-{command}", PROGRAMS["git"]), fields[at:])


def _git_clone(fields: list[Field]) -> list[Argument]:
    parsed = parse(PROGRAMS["git-clone"], fields)
    sources = [Argument(field, 0, READ) for field in parsed.plain[:1] if not is_elsewhere(field)]
    return parsed.found + sources + [Argument(field, 0, CREATE) for field in parsed.plain[1:]]


def _copy_between_machines(fields: list[Field]) -> list[Argument]:
    found = by_spec(PROGRAMS[fields[0].text.rsplit("/", 1)[-1] if fields[0].text else "scp"], fields)
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
