"""The escapes of $'...', as in C."""

from __future__ import annotations

from .syntax import Unreadable

ANSI = dict(zip("ntrabeEfv\\'\"?", "\n\t\r\a\b\x1b\x1b\f\v\\'\"?", strict=True))
RADIX = {"x": (16, 2), "u": (16, 4), "U": (16, 8)}


def escape(text: str, pos: int, end: int) -> tuple[str, int]:
    """The character that the escape behind a backslash at this place means, and where the text goes on."""
    c = text[pos : pos + 1]
    if c in ANSI:
        return ANSI[c], pos + 1
    radix, width = RADIX.get(c, (8, 3) if c in "01234567" else (0, 0))
    if not radix:
        if c == "c":
            raise Unreadable("a control character")
        return "\\" + c, pos + 1
    first = pos if radix == 8 else pos + 1
    stop = first
    digits = "01234567" if radix == 8 else "0123456789abcdefABCDEF"
    while stop < end and stop < first + width and text[stop] in digits:
        stop += 1
    code = int(text[first:stop] or "0", radix)
    if code == 0 or 0xD800 <= code < 0xE000 or code > 0x10FFFF or (code > 0x7F and c not in "uU"):
        raise Unreadable("a byte that is no character")
    return chr(code), stop
