"""The shape of a name: `orch-4f2a` and `orch-91cc` are both `orch-*`. Pure.

A shape is a glob that matches every name it was made of, so that what is shown can be named in a command.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable

_TEMPFILE = re.compile(r"(tmp)[a-z0-9_]{8}(?=\.|$)|(tmp\.)[A-Za-z0-9]{6,12}$")  # Python's and mktemp's
_ENDS = r"(?![A-Za-z0-9])"
_VARIES = re.compile(  # one pass in C: a root may hold a million names
    rf"""(?x)(?<![A-Za-z0-9])(?:
      [0-9][A-Za-z0-9]*                                       # 4711, 3f0e2c5a
    | (?=[0-9a-f]{{4,}}{_ENDS}) [a-f]+[0-9][0-9a-f]*          # a1b2
    | (?:[0-9a-f]{{8,}}|[0-9A-F]{{8,}}){_ENDS}                # long enough to be no word, even without a digit
    | [A-Za-z]+[0-9]+[A-Za-z][A-Za-z0-9]*                     # x8d9s0
    | ([A-Za-z]+)[0-9]+                                       # go-build1234: a word and a number
    )"""
)
_VARYING = re.compile(r"\*(?:[-_.:+@,]*\*)+")
_MAGIC = re.compile(r"[*?[]")
EVERYTHING = "*"
_FEW = 3  # names that say nothing of a shape by themselves, and share their beginning


def shape(name: str) -> str:
    """The part of a name that the next one of its kind will have too; `*` for what varies."""
    if "*" in name or "?" in name or "[" in name:
        name = literal(name)
    found = _TEMPFILE.match(name) if name.startswith("tmp") else None
    if found:
        spelled = f"{found[1] or found[2]}*" + _VARIES.sub(r"\1*", name[found.end() :])
    else:
        spelled = _VARIES.sub(r"\1*", name)
    if spelled.count("*") > 1:
        spelled = _VARYING.sub("*", spelled)
    return _first_letter(name) + "*" if spelled == "*" else spelled


def _first_letter(name: str) -> str:
    """For names that vary as a whole: a lone `*` would mean everything."""
    return "[0-9]" if name[0].isdigit() else "[0-9a-f]" if name[0] in "abcdef" else literal(name[0])


def literal(text: str) -> str:
    """The glob that matches `text` and nothing else."""
    return _MAGIC.sub(lambda magic: f"[{magic[0]}]", text)


def matcher(glob: str) -> re.Pattern[str]:
    """One path component against a glob, exactly: no case folding."""
    return re.compile(fnmatch.translate(glob))


def merged(shapes: Iterable[str]) -> dict[str, str]:
    """Shape -> the shape to tell it under: a name that a wider one covers, or one of several with one beginning."""
    known = list(dict.fromkeys(shapes))
    wide = [(each, matcher(each)) for each in sorted(known, key=len) if "*" in each and each != EVERYTHING]
    told = {each: next((by for by, covers in wide if covers.match(each)), each) for each in known}
    alone: dict[str, list[str]] = {}
    for each in known:
        if told[each] == each and "*" not in each:
            alone.setdefault(_beginning(each), []).append(each)
    for beginning, several in alone.items():
        if beginning and len(several) >= _FEW:
            told |= dict.fromkeys(several, f"{beginning}*")
    return told


def _beginning(shape_: str) -> str:
    """`orch-` of `orch-alpha`; nothing where the name does not begin with a word and a dash, dot or underscore."""
    found = re.match(r"[A-Za-z0-9]{2,}[-_.]", shape_)
    return found[0] if found else ""
