"""The grammar of bash: text in, a tree with exact places out."""

from __future__ import annotations

from .conditions import Conditions
from .syntax import (
    Assignment,
    Block,
    Case,
    Expression,
    For,
    Function,
    If,
    Loop,
    Node,
    Sequence,
    Unreadable,
    Word,
)

MAX_LENGTH = 200_000  # characters; more is not looked at
COMPOUND = frozenset(("{", "[[", "if", "while", "until", "for", "case", "select"))
DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def read(text: str) -> Sequence:
    """The tree of a command line; raises Unreadable."""
    if len(text) > MAX_LENGTH:
        raise Unreadable("too long")
    if "\0" in text:
        raise Unreadable("has a NUL, which bash drops")
    if not text.isascii() and not DIRECTIONS.isdisjoint(text):
        raise Unreadable("has marks that change the reading direction")
    return read_part(text, 0, len(text), 0)


def read_part(text: str, start: int, end: int, depth: int) -> Sequence:
    """The same for the text between two places, as in a string that a shell is given."""
    reader = Reader(text, start, end, depth)
    tree = reader.sequence()
    if reader.pos < reader.end:
        raise Unreadable("something stands in an odd place")
    if reader.waiting:
        raise Unreadable("a here-document does not end")
    return tree


class Reader(Conditions):
    """Compound commands."""

    def elsewhere(self, text: str, start: int, end: int) -> Sequence:
        return read_part(text, start, end, self.depth)

    def compound(self, operator: str) -> Node | None:
        if operator == "(":
            return self._parenthesis_command()
        if operator:
            raise Unreadable("an operator in an odd place")
        method = COMMANDS.get(self.bare_word())
        if method is None:
            return None
        self.deeper()
        node = method(self)
        self.depth -= 1
        return node

    def _parenthesis_command(self) -> Node:
        start = self.pos
        if self.text.startswith("((", start) and start not in self.not_arithmetic:
            mark = self.mark()
            try:
                self.pos = start + 2
                return Expression(start, self.arithmetic("))"))
            except Unreadable:
                self.no_arithmetic(start)
                self.back_to(mark)
        self.pos += 1
        self.deeper()
        body = self.filled()
        self.depth -= 1
        if self.operator() != ")":
            raise Unreadable("a parenthesis does not end")
        self.pos += 1
        return Block(start, "(", body)

    def _group(self) -> Node:
        start = self.pos
        self.pos = self.bare_end
        body = self.filled()
        self.expect("}")
        return Block(start, "{", body)

    def _if(self) -> Node:
        node = If(self.pos)
        self.pos = self.bare_end
        while True:
            condition = self.filled()
            self.expect("then")
            node.branches.append((condition, self.filled()))
            word = self.bare_word()
            if word == "elif":
                self.pos = self.bare_end
                continue
            if word == "else":
                self.pos = self.bare_end
                node.otherwise = self.filled()
            self.expect("fi")
            return node

    def _while(self) -> Node:
        start = self.pos
        self.pos = self.bare_end
        condition = self.filled()
        return Loop(start, condition, self._do(), [])

    def _do(self) -> Sequence:
        self.expect("do")
        body = self.filled()
        self.expect("done")
        return body

    def _for_body(self) -> Sequence:
        self.skip()
        if self.operator() == ";":
            self.pos += 1
        self.skip_lines()
        if self.bare_word() != "{":
            return self._do()
        self.pos = self.bare_end
        body = self.filled()
        self.expect("}")
        return body

    def _for(self) -> Node:
        start = self.pos
        self.pos = self.bare_end
        self.skip()
        if self.text.startswith("((", self.pos, self.end):
            self.pos += 2
            parts = self.arithmetic("))")
            return Loop(start, None, self._for_body(), parts)
        name = self.word()
        if name.text is None:
            raise Unreadable("the variable of a loop is an expansion")
        self.skip_lines()
        words: list[Word] | None = None
        if self.bare_word() == "in":
            self.pos = self.bare_end
            words = []
            self.skip()
            while self.pos < self.end and not self.operator():
                words.append(self.word())
                self.skip()
        return For(start, name.text, words, self._for_body())

    def _case(self) -> Node:
        start = self.pos
        self.pos = self.bare_end
        self.skip()
        node = Case(start, self.word())
        self.expect("in")
        while True:
            self.skip_lines()
            if self.bare_word() == "esac":
                self.pos = self.bare_end
                return node
            patterns = self._patterns()
            body = self.sequence()
            operator = self.operator()
            node.clauses.append((patterns, body, operator))
            if operator in (";;", ";&", ";;&"):
                self.pos += len(operator)
            elif self.bare_word() != "esac":
                raise Unreadable("'esac' is missing")

    def _patterns(self) -> list[Word]:
        if self.operator() == "(":
            self.pos += 1
        patterns = []
        while True:
            self.skip()
            patterns.append(self.word())
            self.skip()
            operator = self.operator()
            self.pos += 1
            if operator == ")":
                return patterns
            if operator != "|":
                raise Unreadable("a case pattern that is not understood")

    def _function(self) -> Node:
        start = self.pos
        self.pos = self.bare_end
        self.skip()
        name = self.word()
        self.skip()
        if self.operator() == "(":
            return self.function_body(start, name)
        return self._function_rest(start, name)

    def function_body(self, start: int, name: Word | Assignment) -> Node:
        self.pos += 1
        self.skip()
        if self.operator() != ")":
            raise Unreadable("a parenthesis in an odd place")
        self.pos += 1
        return self._function_rest(start, name)

    def _function_rest(self, start: int, name: Word | Assignment) -> Node:
        if isinstance(name, Assignment) or name.text is None:
            raise Unreadable("the name of a function is an expansion")
        self.skip_lines()
        if self.operator() != "(" and self.bare_word() not in COMPOUND:
            raise Unreadable("a function without a body")
        self.deeper()
        node = Function(start, name.text, self.command())
        self.depth -= 1
        node.end = self.pos
        return node

    def _coproc(self) -> Node:
        start = self.pos
        self.pos = self.bare_end
        self.skip()
        place, word, name = self.pos, self.bare_word(), "COPROC"
        if word and word not in COMPOUND:
            self.take_word()
            if self.operator() == "(" or self.bare_word() in COMPOUND:
                name = word
            else:
                self.pos = place
        return Block(start, "coproc", self.command(), name)

    def _misplaced(self) -> Node:
        raise Unreadable("a reserved word in an odd place")


COMMANDS = {
    "{": Reader._group,
    "if": Reader._if,
    "while": Reader._while,
    "until": Reader._while,
    "for": Reader._for,
    "select": Reader._for,
    "case": Reader._case,
    "[[": Reader.condition,
    "function": Reader._function,
    "coproc": Reader._coproc,
    **dict.fromkeys(("then", "elif", "else", "fi", "do", "done", "esac", "}", "!", "time"), Reader._misplaced),
}
