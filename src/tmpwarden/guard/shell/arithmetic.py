"""Arithmetic: where it ends, what it substitutes, and whether bash might take it for commands."""

from __future__ import annotations

from .cursor import Cursor
from .syntax import LITERAL, Part, Unreadable

# what bash writes otherwise when it reads a substitution within arithmetic a second time
REWRITTEN = ("esac", "$'", "\\\n")


def read_arithmetic(cursor: Cursor, closing: str) -> list[Part]:
    """The substitutions up to `closing`; raises where the text is no arithmetic."""
    text, end = cursor.text, cursor.end
    opener = "[" if closing == "]" else "("
    parts: list[Part] = []
    nested = 0
    cursor.deeper()
    while cursor.pos < end:
        c = text[cursor.pos]
        if c in "'\"\\$`":
            cursor.quoted(parts, "")
            continue
        if c == closing[0]:
            if nested == 0:
                if not text.startswith(closing, cursor.pos, end):
                    break
                cursor.pos += len(closing)
                cursor.depth -= 1
                return [part for part in parts if part.kind != LITERAL]
            nested -= 1
        elif c == opener:
            nested += 1
        cursor.pos += 1
    raise Unreadable("arithmetic does not end")


def is_ambiguous(inside: str) -> bool:
    """bash counts the parentheses between $(( and )) again; if they do not match, it runs all of it as commands."""
    if not _is_balanced(inside) or (("'" in inside or '"' in inside) and not _is_balanced(_without_quoted(inside))):
        return True
    if "$(" not in inside and "`" not in inside:
        return False
    comments = [line.partition(" #")[2] for line in inside.replace("\t", " ").replace(";", " ").split("\n")]
    return any(mark in inside for mark in REWRITTEN) or any(c in comment for comment in comments for c in "()'\"`")


def _is_balanced(text: str) -> bool:
    depth = 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return False
    return depth == 0


def _without_quoted(text: str) -> str:
    bare, at = [], 0
    while at < len(text):
        c = text[at]
        at += 1
        if c == "\\":
            at += 1
        elif c in "'\"":
            while at < len(text) and text[at] != c:
                at += 2 if c == '"' and text[at] == "\\" else 1
            at += 1
        else:
            bare.append(c)
    return "".join(bare)
