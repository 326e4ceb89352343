"""Code given to a program on its command line: what all who look into it share, and the scripts of awk and sed."""

from __future__ import annotations

from ..nouns.analysis import CODE, WRITE
from ..nouns.fields import Field
from ..nouns.names import names
from .options import Argument

# first parts of absolute names; an address on a server such as /users/1 has none of them
_TOPS = names(
    "home root etc usr var opt bin sbin lib lib64 boot dev mnt media srv tmp run proc sys snap nix Users Library "
    "System Applications Volumes private"
)


class Places:
    """Where the code runs: what HOME and TMPDIR stand for."""

    __slots__ = ("home", "temp")

    def __init__(self, home: str, temp: str) -> None:
        self.home = home
        self.temp = temp


def is_outside(text: str, places: Places) -> bool:
    """Does this text name a file by a way that leads out of the directory it runs in?"""
    if len(text) > 1000 or "\n" in text:
        return False
    if text.startswith(("~/", "../", places.home + "/")) or text in ("~", "..", places.home) or "/../" in text:
        return True
    return text.startswith("/") and text[1:].partition("/")[0] in _TOPS


def quoted(text: str) -> str:
    """As one word of a line."""
    return "'" + text.replace("'", "'\\''") + "'"


def closing(code: str, at: int, quote: str) -> int:
    while at < len(code) and code[at] != quote:
        at += 2 if code[at] == "\\" else 1
    return at if at < len(code) else -1


def told_by_awk(program: str) -> list[Argument] | None:
    """The files that print > FILE writes, and what print | COMMAND runs; None where neither can be read."""
    if "system" in program or "@" in program or "|&" in program:
        return None
    paths: list[Argument] = []
    prints, nested, at = False, 0, 0
    while at < len(program):
        c = program[at]
        if c == '"':
            at = _string_end(program, at)
            continue
        if c in ";}\n":
            prints = False
        elif program.startswith("print", at):
            prints, nested = True, 0
        elif c in "()":
            nested += 1 if c == "(" else -1
        elif c == "|" and program[at + 1 : at + 2] != "|" and program[at + 1 :].lstrip().startswith("getline"):
            return None  # it runs what is before the bar
        elif prints and nested <= 0 and c in ">|" and not program.startswith("||", at):
            target = program[at + 1 :].lstrip(" \t>(")
            stop = _string_end(target, 0) - 1 if target[:1] == '"' else 0
            text = target[1:stop]
            if stop < 1 or "\\" in text or not text:
                return None
            is_whole = target[stop + 1 :].lstrip(" \t)")[:1] in ("", ";", "}", "\n")
            if not is_whole and (c == "|" or "/" not in text):
                return None
            field = Field(text if is_whole else None, None)
            if not is_whole:  # "out/" $1 ".txt"
                field.stem, field.pattern_at = text + "?", len(text)
            paths.append(Argument(field, 0, CODE if c == "|" else WRITE))
            prints = False
        at += 2 if program.startswith("||", at) else 1
    return paths


def _string_end(program: str, opening: int) -> int:
    at = opening + 1
    while at < len(program) and program[at] != '"':
        at += 2 if program[at] == "\\" else 1
    return at + 1


def sed_writes(script: str) -> bool:
    """The commands w, W and e, and those flags of s. In doubt yes."""
    at, size = 0, len(script)
    while at < size:
        c = script[at]
        if c in " \t\n;{}!,$0123456789+~":
            at += 1
        elif c == "/" or c == "\\":
            at = _delimited(script, at + (c == "\\"), 1)
        elif c in "sy":
            at = _delimited(script, at + 1, 2)
            if at < 0:
                return True
            while at < size and script[at] in "gpiImM0123456789we":
                if script[at] in "we":
                    return True
                at += 1
        elif c in "aicrR:btTq" or c == "#":
            stop = script.find("\n", at)
            semicolon = script.find(";", at) if c in "btTq:" else -1
            ends = [end for end in (stop, semicolon) if end >= 0]
            at = min(ends) if ends else size
        elif c in "dDgGhHnNpPxzlF=IQ":
            at += 1
        else:
            return True
        if at < 0:
            return True
    return False


def _delimited(script: str, at: int, count: int) -> int:
    """Behind `count` texts that end in the delimiter at this place; -1 if they do not end."""
    if at >= len(script):
        return -1
    delimiter, at = script[at], at + 1
    in_class = False
    while at < len(script):
        c = script[at]
        if c == "\\":
            at += 1
        elif c == "[" and not in_class:
            in_class = "]" in script[at + 2 :]
        elif c == "]":
            in_class = False
        elif c == delimiter and not in_class:
            count -= 1
            if count == 0:
                return at + 1
        at += 1
    return -1
