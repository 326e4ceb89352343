"""A position in the text: blanks, comments, line ends with the here-documents that wait for them, operators."""

from __future__ import annotations

from .syntax import Part, Redirect, Unreadable

MAX_DEPTH = 32  # of nested substitutions and commands: the reader is recursive
MAX_HERE_DOCUMENTS = 64
MAX_WORDS = 20_000
MAX_ATTEMPTS = 8  # at reading (( as arithmetic, each of which may go to the end of the text

META = frozenset(" \t\n;&|()<>")
NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
NAME = NAME_START | frozenset("0123456789")
OPERATORS = (";;&", ";;", ";&", "&&", "||", "|&")


class Scanner:
    """Reads text[pos:end]."""

    def __init__(self, text: str, pos: int = 0, end: int | None = None, depth: int = 0) -> None:
        self.text = text
        self.pos = pos
        self.end = len(text) if end is None else end
        self.depth = depth
        self.waiting: list[tuple[Redirect, str, bool]] = []  # here-documents whose body starts behind the next line end
        self.words = 0
        self.operands = 0  # how many ${...} are open around this place
        self.bare_end = pos  # where the last bare_word() ended
        self.not_arithmetic: set[int] = set()  # places of (( that turned out to be ( (
        self.here_seen = 0  # here-documents read so far
        self.here_floor = -1  # how many there were when the substitution around this place began; -1: there is none
        self.floor = 0  # how many of them belong to the commands around this substitution

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable("nested too deep")

    def mark(self) -> tuple[int, ...]:
        """All that a failed attempt may have moved."""
        return self.pos, self.depth, self.floor, self.here_floor, self.here_seen, self.operands, len(self.waiting)

    def back_to(self, mark: tuple[int, ...]) -> None:
        self.pos, self.depth, self.floor, self.here_floor, self.here_seen, self.operands, waiting = mark
        del self.waiting[waiting:]

    def no_arithmetic(self, start: int) -> None:
        """Remember that (( at this place is ( (: nested attempts would double the work each time."""
        self.not_arithmetic.add(start)
        if len(self.not_arithmetic) > MAX_ATTEMPTS:
            raise Unreadable("nested too deep")

    def skip(self) -> None:
        """Blanks, comments and continued lines."""
        text, pos, end = self.text, self.pos, self.end
        while pos < end:
            c = text[pos]
            if c == " " or c == "\t":
                pos += 1
            elif c == "\\" and text.startswith("\\\n", pos) and pos + 2 <= end:
                pos += 2
            elif c == "#":
                line_end = text.find("\n", pos, end)
                pos = end if line_end < 0 else line_end
            else:
                break
        self.pos = pos

    def skip_lines(self) -> None:
        """The same and line ends."""
        self.skip()
        while self.pos < self.end and self.text[self.pos] == "\n":
            self.line_end()
            self.skip()

    def line_end(self) -> None:
        self.pos += 1
        if not self.waiting:
            return
        if self.floor:
            raise Unreadable("a here-document waits outside of the substitution that ends its line")
        waiting, self.waiting = self.waiting, []
        for redirect, delimiter, is_quoted in waiting:
            self._here_document(redirect, delimiter, is_quoted)

    def _here_document(self, redirect: Redirect, delimiter: str, is_quoted: bool) -> None:
        text, end, strips = self.text, self.end, redirect.op == "<<-"
        start = pos = self.pos
        while pos < end:
            stop = text.find("\n", pos, end)
            stop = end if stop < 0 else stop
            line = text[pos:stop]
            if (line.lstrip("\t") if strips else line) == delimiter:
                break
            if not is_quoted:
                stop = self._continued(pos, stop)
                if text[pos:stop].replace("\\\n", "") == delimiter:
                    raise Unreadable("the end of a here-document is split over two lines")
            pos = stop + 1
        else:
            raise Unreadable("a here-document does not end")
        redirect.body = text[start:pos]
        self.here_seen += 1
        self.pos = min(stop + 1, end)
        if not is_quoted:
            redirect.parts = self.expansions(start, pos)

    def _continued(self, pos: int, stop: int) -> int:
        """The end of the line that starts at pos, with the lines that a backslash joins to it."""
        text, end = self.text, self.end
        while stop < end and text[stop - 1] == "\\" and stop > pos:
            run = stop
            while run > pos and text[run - 1] == "\\":
                run -= 1
            if (stop - run) % 2 == 0:
                break
            pos = stop + 1
            following = text.find("\n", pos, end)
            stop = end if following < 0 else following
        return stop

    def expansions(self, start: int, stop: int) -> list[Part]:
        """The substitutions in the text of a here-document."""
        raise NotImplementedError

    def operator(self) -> str:
        """The control operator at this place, or ''."""
        pos = self.pos
        if pos >= self.end:
            return ""
        text = self.text
        c = text[pos]
        if c not in ";&|()\n":
            return ""
        if c == "\n" or c == "(" or c == ")":
            return c
        following = text[pos + 1 : pos + 2] if pos + 1 < self.end else ""
        if following == "\\" and text.startswith("\\\n", pos + 1):
            raise Unreadable("an operator is split over two lines")
        if c == "&" and following == ">":
            return ""
        for operator in OPERATORS:
            if text.startswith(operator, pos, self.end):
                return operator
        return c

    def bare_word(self) -> str:
        """The unquoted word at this place, '' if there is none or any of it is quoted or expanded."""
        text, pos, end = self.text, self.pos, self.end
        joined, start = "", pos
        while pos < end:
            c = text[pos]
            if c in META:
                break
            if c in "'\"\\$`":
                if not text.startswith("\\\n", pos):
                    return ""
                joined += text[start:pos]
                pos = start = pos + 2
                continue
            pos += 1
        self.bare_end = pos
        return joined + text[start:pos]
