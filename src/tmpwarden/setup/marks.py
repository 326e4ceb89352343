"""Our lines in a text file of the user's whose comments start with #: between two marks, shown, and taken out whole."""

from __future__ import annotations

FIRST, LAST = "# >>> tmpwarden >>>", "# <<< tmpwarden <<<"


def with_block(text: str, lines: list[str], at: int | None = None) -> str:
    """`text` with our lines in it: at an offset that starts a line, or at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join([FIRST, *lines, LAST]) + newline
    if at is not None:
        return text[:at] + block + text[at:]
    gap = "" if not text or text.endswith("\n") else newline
    return text + gap + block


def without_block(text: str) -> str:
    """As it was, but for a newline that had to end its last line. A first mark without a last one is not cut."""
    while (start := _line_start(text, FIRST, 0)) >= 0 and (last := _line_start(text, LAST, start)) >= 0:
        end = text.find("\n", last)
        text = text[:start] + (text[end + 1 :] if end >= 0 else "")
    return text


def _line_start(text: str, line: str, since: int) -> int:
    at = text.find(line, since)
    while at > 0 and text[at - 1] != "\n":
        at = text.find(line, at + 1)
    return at
