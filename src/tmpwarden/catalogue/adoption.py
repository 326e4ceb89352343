"""Rows that a user makes from a glob, `adopt 'orch-*'`: the text of one drop-in file. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable

from ..errors import BadArgument, BadConfig
from ..model.sweep import Litter
from ..model.terms import Kind
from ..text import shown
from .decode import decode
from .names import complaint_about_name
from .patterns import FLAGS, split_place

AGENT = "adopted"
FILE = f"{AGENT}.toml"
_HEAD = f'''# What `tmpwarden adopt` took into the catalogue; `tmpwarden adopt --forget PATTERN` takes a row out again.
schema = 1

[agent]
id = "{AGENT}"
name = "adopted by you"
'''
_BLOCK = "\n[[litter]]\n"
_MOST_EXAMPLES = 3
_LEAST_START = 2
_BEGINS = "a pattern must start with fixed text, as in 'orch-*'"
_STANDS_FOR = {"*": ".+", "?": "."}


def pattern_of(glob: str) -> str:
    """The regular expression of a glob for names right in a temp root; BadArgument where it would take too much."""
    if "/" in glob or not glob:
        raise BadArgument(f"{shown(glob)} is not a pattern for names directly in a temp root", hint="such as 'orch-*'")
    if len(re.split(r"[*?[]", glob)[0]) < _LEAST_START:
        raise BadArgument(f"{shown(glob)} would match too much", hint=_BEGINS)
    pieces = re.findall(r"\[[!^]?\]?[^]]*\]|.", glob, re.DOTALL)
    pattern = "".join(
        _STANDS_FOR.get(piece) or (_class(piece) if len(piece) > 1 else re.escape(piece)) for piece in pieces
    )
    wrong = complaint_about_name(pattern, shared=True)
    if wrong:
        raise BadArgument(f"{shown(glob)} {wrong}", hint=_BEGINS)
    return pattern


def _class(piece: str) -> str:
    inside = piece[1:-1].replace("\\", r"\\")
    return f"[^{inside[1:]}]" if inside[:1] in ("!", "^") else f"[{inside}]"


def led_into(pattern: str, rows: Iterable[Litter], uid: int) -> str | None:
    """A directory that rows look into and that the pattern would take whole, with the sessions in it."""
    fits = re.compile(pattern, FLAGS)
    for row in rows:
        base, parts = split_place(row.place)
        first = parts[0].replace("{uid}", str(uid)) if base == "tmp" and parts else "*"
        if "*" not in first and fits.fullmatch(first):
            return first
    return None


def with_row(text: str, glob: str, kind: Kind, examples: Iterable[str], seen: str) -> str:
    """The file with one more row. Raises BadConfig where what is there cannot be read."""
    pattern = pattern_of(glob)
    matching = [name for name in examples if name.isprintable()][:_MOST_EXAMPLES]
    matching = matching or [re.sub(r"\[([^!^]).*?\]", r"\1", glob).replace("?", "0").replace("*", "1a2b")]
    fits = re.compile(pattern, FLAGS)
    alike = [f"my-{matching[0]}", glob.rstrip("*?"), "notes.txt"]
    fields = {
        "id": _id(glob, {row.id for row in rows(text)}),
        "in": "{tmp}",
        "name": pattern,
        "kind": kind.value,
        "tier": "ask",
        "worth": "some",
        "owner": "none",
        "why": f"adopted: {glob}",
        "seen": [seen],
        "matches": [name for name in matching if fits.fullmatch(name)],
        "spares": [name for name in dict.fromkeys(alike) if name and not fits.fullmatch(name)],
    }
    block = "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields.items())
    return _checked((text or _HEAD) + _BLOCK + block)


def without_row(text: str, row: Litter) -> str:
    head, *blocks = text.split(_BLOCK.lstrip("\n"))
    kept = [block for block in blocks if _name_in(block) != row.name]
    return _checked("".join([head, *(_BLOCK.lstrip("\n") + block for block in kept)]).rstrip("\n") + "\n")


def rows(text: str) -> tuple[Litter, ...]:
    """What was adopted so far."""
    if not text:
        return ()
    agent, complaints = decode(text, FILE)
    if complaints:
        where, _, sentence = complaints[0].partition(": ")
        raise BadConfig(where, sentence)
    return agent.rows if agent else ()


def _checked(text: str) -> str:
    """A file that the catalogue would skip is not written."""
    rows(text)
    return text


def _name_in(block: str) -> str | None:
    try:
        name = tomllib.loads(block).get("name")
    except tomllib.TOMLDecodeError:
        return None
    return name if isinstance(name, str) else None


def _id(glob: str, taken: set[str]) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", glob.lower()).strip("-") or "row"
    number = 1
    while (name := plain if number == 1 else f"{plain}-{number}") in taken:
        number += 1
    return name
