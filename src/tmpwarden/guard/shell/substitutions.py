"""What a dollar sign or a backtick starts: parameters, arithmetic and commands inside of words."""

from __future__ import annotations

from .cursor import NAME, NAME_START, Cursor
from .syntax import ARITHMETIC, COMMAND, LITERAL, PARAMETER, PROCESS, TILDE, Part, Sequence, Unreadable
from .words import ENDS_TILDE, ansi, double

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


SPECIAL_NAMES = frozenset("@*#?$!-0123456789")
TESTS = (":-", ":=", ":?", ":+", "-", "=", "?", "+")


def braces(cursor: Cursor, parts: list[Part], around: str) -> None:
    text, start = cursor.text, cursor.pos
    part = Part(PARAMETER, "", start, start, around)
    pos = start + 2
    if text[pos : pos + 1] in ("!", "#") and text[pos + 1 : pos + 2] not in tuple("}:-+=?#%/"):
        part.op = text[pos]
        pos += 1
    stop = pos
    while stop < cursor.end and text[stop] in NAME:
        stop += 1
    if stop == pos and text[pos : pos + 1] in SPECIAL_NAMES:
        stop += 1
    if stop == pos:
        raise Unreadable("a parameter expansion that is not understood")
    part.text = text[pos:stop]
    cursor.pos = stop
    _operator(cursor, part, around)
    part.end = cursor.pos
    parts.append(part)


def _operator(cursor: Cursor, part: Part, around: str) -> None:
    text = cursor.text
    cursor.deeper()
    if text.startswith("[", cursor.pos):
        cursor.pos += 1
        _index(cursor, part)
    if text.startswith("}", cursor.pos):
        cursor.pos += 1
    else:
        test = next((op for op in TESTS if text.startswith(op, cursor.pos)), "")
        part.op = "other" if part.op else test or "other"
        cursor.pos += len(test)
        cursor.operands += 1
        _operand(cursor, part, around if test else "")
        cursor.operands -= 1
    cursor.depth -= 1


def _index(cursor: Cursor, part: Part) -> None:
    """NAME[index]: one element or all of an array; its value is never known to us."""
    part.parts = read_arithmetic(cursor, "]")
    part.op = "other"


def _operand(cursor: Cursor, part: Part, around: str) -> None:
    """Up to the first free closing brace. Between double quotes single ones mean nothing, except in patterns."""
    text, end, parts = cursor.text, cursor.end, part.parts
    start = cursor.pos
    while cursor.pos < end:
        pos = cursor.pos
        c = text[pos]
        if c == "}":
            cursor.pos += 1
            return
        if c == "~" and pos == start and not around:
            _operand_tilde(cursor, parts)
        elif c in '"\\$`' or (c == "'" and not around):
            _operand_quote(cursor, parts, c, around)
        elif c in "<>" and not around and text.startswith("(", pos + 1):
            cursor.quoted(parts, "")
        else:
            cursor.pos = pos + 1
            while cursor.pos < end and text[cursor.pos] not in "}'\"\\$`<>":
                cursor.pos += 1
            parts.append(Part(LITERAL, text[pos : cursor.pos], pos, cursor.pos, around))
    raise Unreadable("a parameter expansion does not end")


def _operand_quote(cursor: Cursor, parts: list[Part], c: str, around: str) -> None:
    pos = cursor.pos
    if c == "\\" and around and cursor.text[pos + 1 : pos + 2] not in ("}", '"', "\\", "$", "`", "\n"):
        parts.append(Part(LITERAL, cursor.text[pos : pos + 2], pos, pos + 2, around))
        cursor.pos += 2
    else:
        cursor.quoted(parts, around)


def _operand_tilde(cursor: Cursor, parts: list[Part]) -> None:
    stop = cursor.pos + 1
    while stop < cursor.end and cursor.text[stop] not in ENDS_TILDE:
        stop += 1
    parts.append(Part(TILDE, cursor.text[cursor.pos + 1 : stop], cursor.pos, stop))
    cursor.pos = stop


def dollar(cursor: Cursor, parts: list[Part], around: str) -> None:
    text, start = cursor.text, cursor.pos
    following = text[start + 1] if start + 1 < cursor.end else ""
    if following == "(":
        _parenthesis(cursor, parts, around)
    elif following == "{":
        braces(cursor, parts, around)
    elif following in NAME_START:
        stop = start + 2
        while stop < cursor.end and text[stop] in NAME:
            stop += 1
        _parameter(cursor, parts, stop, around)
    elif following in SPECIAL_NAMES:
        _parameter(cursor, parts, start + 2, around)
    elif following == "[":
        cursor.pos = start + 2
        _arithmetic_part(cursor, parts, start, "]", around)
    elif following == "'" and not around:
        ansi(cursor, parts)
    elif following == '"' and not around:
        cursor.pos = start + 1
        double(cursor, parts, "")
    elif following == "\\" and text.startswith("\\\n", start + 1):
        raise Unreadable("an expansion is split over two lines")
    else:
        parts.append(Part(LITERAL, "$", start, start + 1, around))
        cursor.pos = start + 1


def _parameter(cursor: Cursor, parts: list[Part], stop: int, around: str) -> None:
    if cursor.text.startswith("\\\n", stop):
        raise Unreadable("a name is split over two lines")
    parts.append(Part(PARAMETER, cursor.text[cursor.pos + 1 : stop], cursor.pos, stop, around))
    cursor.pos = stop


def _parenthesis(cursor: Cursor, parts: list[Part], around: str) -> None:
    start = cursor.pos
    if cursor.text.startswith("$((", start) and start not in cursor.not_arithmetic:
        mark = cursor.mark()
        try:
            cursor.pos = start + 3
            _arithmetic_part(cursor, parts, start, "))", around)
        except Unreadable:
            cursor.no_arithmetic(start)
            cursor.back_to(mark)
        else:
            if is_ambiguous(cursor.text[start + 3 : cursor.pos - 2]):
                raise Unreadable("arithmetic that bash may run as commands")
            return
    part = Part(COMMAND, "", start, start, around)
    cursor.pos = start + 2
    part.body = _inner(cursor)
    part.end = cursor.pos
    parts.append(part)


def process(cursor: Cursor, parts: list[Part], around: str) -> None:
    """<(...) and >(...)."""
    part = Part(PROCESS, cursor.text[cursor.pos], cursor.pos, cursor.pos)
    cursor.pos += 2
    part.body = _inner(cursor)
    part.end = cursor.pos
    parts.append(part)


def _inner(cursor: Cursor) -> Sequence:
    """The commands up to the closing parenthesis."""
    floor, cursor.floor = cursor.floor, len(cursor.waiting)
    here_floor, cursor.here_floor = cursor.here_floor, cursor.here_seen
    cursor.deeper()
    body = cursor.grammar.sequence(cursor)
    cursor.depth -= 1
    if cursor.pos >= cursor.end or cursor.text[cursor.pos] != ")":
        raise Unreadable("a parenthesis does not end")
    if len(cursor.waiting) > cursor.floor:
        raise Unreadable("a here-document does not end")
    cursor.floor, cursor.here_floor = floor, here_floor
    cursor.pos += 1
    return body


def _arithmetic_part(cursor: Cursor, parts: list[Part], start: int, closing: str, around: str) -> None:
    inside = read_arithmetic(cursor, closing)
    part = Part(ARITHMETIC, "", start, cursor.pos, around)
    part.parts = inside
    parts.append(part)


def backtick(cursor: Cursor, parts: list[Part], around: str) -> None:
    text, start = cursor.text, cursor.pos
    stop = start + 1
    pieces: list[str] = []
    run = stop
    while stop < cursor.end and text[stop] != "`":
        if text[stop] == "\\" and text[stop + 1 : stop + 2] in ("`", "\\", "$", '"' if around else "`"):
            pieces.append(text[run:stop])
            run = stop + 1
            stop += 1
        stop += 1
    if stop >= cursor.end:
        raise Unreadable("a backtick does not end")
    part = Part(COMMAND, "", start, stop + 1, around)
    cursor.deeper()
    if pieces:  # the text that bash reads is not the text that stands here: its places mean nothing
        part.text = "".join(pieces) + text[run:stop]
        part.body = Cursor(part.text, 0, len(part.text), cursor.depth, cursor.grammar).whole()
    else:
        part.body = Cursor(text, start + 1, stop, cursor.depth, cursor.grammar).whole()
    cursor.depth -= 1
    parts.append(part)
    cursor.pos = stop + 1
