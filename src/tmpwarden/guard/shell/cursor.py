"""A position in the text: blanks, operators, bare words, and line ends with the here-documents that wait for them."""

from __future__ import annotations

from .syntax import LITERAL, Part, Redirect, Sequence, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .syntax import Assignment, Node, Word

    Opener = Callable[["Cursor", list[Part], str], None]

MAX_DEPTH = 32  # of nested substitutions and commands: the reader is recursive
MAX_HERE_DOCUMENTS = 64
MAX_WORDS = 20_000
MAX_ATTEMPTS = 8  # at reading (( as arithmetic, each of which may go to the end of the text

META = frozenset(" \t\n;&|()<>")
NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
NAME = NAME_START | frozenset("0123456789")
OPERATORS = (";;&", ";;", ";&", "&&", "||", "|&")


class Grammar:
    """The readers that call each other in a circle, handed down so that imports need not."""

    __slots__ = ("command", "function", "openers", "sequence")

    def __init__(
        self,
        openers: Mapping[str, Opener],
        sequence: Callable[[Cursor], Sequence],
        command: Callable[[Cursor], Node],
        function: Callable[[Cursor, int, Word | Assignment], Node],
    ) -> None:
        self.openers = openers  # by the character that starts a quote or a substitution
        self.sequence = sequence
        self.command = command
        self.function = function  # from the parentheses behind its name on


class Cursor:
    """Reads text[pos:end]."""

    __slots__ = (
        "bare_end", "bodies", "depth", "end", "farthest", "floor", "grammar", "here_floor", "here_seen", "limit",
        "not_arithmetic", "operands", "pos", "text", "waiting", "words",
    )  # fmt: skip

    def __init__(self, text: str, pos: int, end: int, depth: int, grammar: Grammar) -> None:
        self.text = text
        self.pos = pos
        self.end = end
        self.limit = self.farthest = end  # here-documents that hold nothing but text move the one on, up to the other
        self.bodies: set[int] = set()  # where those begin that did
        self.grammar = grammar
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

    def quoted(self, parts: list[Part], around: str) -> None:
        """Read what the quote or the dollar sign at this place starts; `around` is '"' within double quotes."""
        self.grammar.openers[self.text[self.pos]](self, parts, around)

    def whole(self) -> Sequence:
        """The commands up to the end, which must be reached."""
        tree = self.grammar.sequence(self)
        if self.pos < self.end:
            raise Unreadable("something stands in an odd place")
        if self.waiting:
            raise Unreadable("a here-document does not end")
        return tree

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

    def take_word(self) -> None:
        """Pass what bare_word() has found."""
        self.pos = self.bare_end
        self.skip()


def skip_lines(cursor: Cursor) -> None:
    """Blanks, comments and line ends."""
    cursor.skip()
    while cursor.pos < cursor.end and cursor.text[cursor.pos] == "\n":
        _line_end(cursor)
        cursor.skip()


def expect(cursor: Cursor, word: str) -> None:
    """Pass a reserved word that must come next."""
    skip_lines(cursor)
    if cursor.bare_word() != word:
        raise Unreadable(f"'{word}' is missing")
    cursor.pos = cursor.bare_end


def _line_end(cursor: Cursor) -> None:
    cursor.pos += 1
    if not cursor.waiting:
        return
    if cursor.floor:
        raise Unreadable("a here-document waits outside of the substitution that ends its line")
    waiting, cursor.waiting = cursor.waiting, []
    for redirect, delimiter, is_quoted in waiting:
        _here_document(cursor, redirect, delimiter, is_quoted)


def _here_document(cursor: Cursor, redirect: Redirect, delimiter: str, is_quoted: bool) -> None:
    text, strips = cursor.text, redirect.op == "<<-"
    end = cursor.farthest if cursor.end == cursor.limit else cursor.end
    start = pos = cursor.pos
    while pos < end:
        stop = text.find("\n", pos, end)
        stop = end if stop < 0 else stop
        line = text[pos:stop]
        if (line.lstrip("\t") if strips else line) == delimiter:
            break
        if not is_quoted:
            stop = _continued(cursor, pos, stop)
            if text[pos:stop].replace("\\\n", "") == delimiter:
                raise Unreadable("the end of a here-document is split over two lines")
        pos = stop + 1
    else:
        raise Unreadable("a here-document does not end")
    redirect.body = body = text[start:pos]
    is_text = is_quoted or not ("\\" in body or "$" in body or "`" in body)
    if is_text and cursor.end == cursor.limit < cursor.farthest and start not in cursor.bodies:
        cursor.bodies.add(start)
        cursor.limit = cursor.end = min(cursor.limit + len(body), cursor.farthest)
    end = cursor.end
    if stop > end:
        raise Unreadable("too long")
    cursor.here_seen += 1
    cursor.pos = min(stop + 1, end)
    if is_text and not is_quoted:
        redirect.parts = [Part(LITERAL, body, start, pos, '"')] if body else []
    elif not is_quoted:
        redirect.parts = _expansions(cursor, start, pos)


def _continued(cursor: Cursor, pos: int, stop: int) -> int:
    """The end of the line that starts at pos, with the lines that a backslash joins to it."""
    text, end = cursor.text, cursor.end
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


def _expansions(cursor: Cursor, start: int, stop: int) -> list[Part]:
    """The substitutions in the text of a here-document."""
    place, end, waiting = cursor.pos, cursor.end, cursor.waiting
    cursor.pos, cursor.end, cursor.waiting = start, stop, []
    text = cursor.text
    parts: list[Part] = []
    while cursor.pos < stop:
        run = cursor.pos
        while cursor.pos < stop and text[cursor.pos] not in "\\$`":
            cursor.pos += 1
        if cursor.pos > run:
            parts.append(Part(LITERAL, text[run : cursor.pos], run, cursor.pos, '"'))
        if cursor.pos < stop:
            _here_escape(cursor, parts) if text[cursor.pos] == "\\" else cursor.quoted(parts, '"')
    cursor.pos, cursor.end, cursor.waiting = place, end, waiting
    return parts


def _here_escape(cursor: Cursor, parts: list[Part]) -> None:
    pos, c = cursor.pos, cursor.text[cursor.pos + 1 : cursor.pos + 2]
    meaning = "" if c == "\n" else c if c in ("\\", "$", "`") else "\\" + c
    parts.append(Part(LITERAL, meaning, pos, pos + 2, '"'))
    cursor.pos = min(pos + 2, cursor.end)
