"""Simple commands: assignments, words and redirects."""

from __future__ import annotations

from .expansions import Expansions
from .scanner import MAX_HERE_DOCUMENTS, NAME, NAME_START
from .syntax import LITERAL, Assignment, Node, Part, Redirect, SimpleCommand, Unreadable, Word

REDIRECTS = ("&>>", "<<<", "<<-", "&>", "<<", ">>", ">|", "<>", ">&", "<&", "<", ">")
DECLARING = frozenset(("export", "declare", "local", "readonly", "typeset", "eval", "alias"))
MAX_INDEX = 256  # characters in NAME[...]=


class Commands(Expansions):
    """Adds simple commands to words."""

    def simple(self) -> Node:
        command = SimpleCommand(self.pos)
        text, words = self.text, command.words
        while True:
            self.skip()
            if self.pos >= self.end:
                break
            c = text[self.pos]
            if c in "<>&{0123456789":
                redirect = self.redirect()
                if redirect is not None:
                    command.redirects.append(redirect)
                    continue
            if c in ";&|()\n":
                if c == "(" and len(words) == 1 and not command.assignments and not command.redirects:
                    return self.function_body(command.start, words[0])
                if c == "(":
                    raise Unreadable("a parenthesis in an odd place")
                break
            self._add_word(command)
        if not (words or command.redirects or command.assignments):
            raise Unreadable("a command is missing")
        command.end = self._last_end(command)
        return command

    def function_body(self, start: int, name: Word | Assignment) -> Node:
        raise NotImplementedError

    def _last_end(self, command: SimpleCommand) -> int:
        ends = [item[-1].end for item in (command.assignments, command.words, command.redirects) if item]
        return max(ends)

    def _add_word(self, command: SimpleCommand) -> None:
        words = command.words
        if not words:
            assignment = self.assignment()
            if assignment is not None:
                command.assignments.append(assignment)
                return
        elif self.text[self.pos] in NAME_START and isinstance(words[0], Word) and words[0].text in DECLARING:
            assignment = self.assignment()
            if assignment is not None:
                words.append(assignment)
                return
        words.append(self.word())

    def assignment(self) -> Assignment | None:
        text, end, start = self.text, self.end, self.pos
        if text[start] not in NAME_START:
            return None
        pos = start + 1
        while pos < end and text[pos] in NAME:
            pos += 1
        if pos >= end or text[pos] not in "=+[":
            return None
        name, index = text[start:pos], None
        if text[pos] == "[":
            closing = self._closing_bracket(pos)
            if closing < 0:
                return None
            index = self._index_parts(pos, closing)
            pos = closing + 1
        is_append = text.startswith("+=", pos, end)
        if not is_append and not text.startswith("=", pos, end):
            return None
        self.pos = pos + (2 if is_append else 1)
        assignment = self._assigned(name, start)
        assignment.index, assignment.is_append, assignment.end = index, is_append, self.pos
        return assignment

    def _closing_bracket(self, opening: int) -> int:
        """Where NAME[ ends if an assignment follows; -1 if it is an ordinary word."""
        text, nested = self.text, 0
        limit = min(self.end, opening + MAX_INDEX)
        for pos in range(opening, limit):
            c = text[pos]
            if c == "[":
                nested += 1
            elif c == "]":
                nested -= 1
                if nested == 0:
                    is_assigned = text.startswith(("=", "+="), pos + 1)
                    return pos if is_assigned else -1
            elif c in " \t\n;&|<>":
                break
        if limit < self.end and pos == limit - 1:
            raise Unreadable("a subscript is too long")
        return -1

    def _index_parts(self, opening: int, closing: int) -> list[Part]:
        end, self.pos, self.end = self.end, opening + 1, closing + 1
        parts = self.arithmetic("]")
        if self.pos != closing + 1:
            raise Unreadable("a subscript that is not understood")
        self.end = end
        return parts

    def _assigned(self, name: str, start: int) -> Assignment:
        text, pos = self.text, self.pos
        if text.startswith("(", pos):
            return Assignment(name, start, None, self._array())
        c = text[pos] if pos < self.end else " "
        if c in " \t\n;&|)" or (c in "<>" and not text.startswith("(", pos + 1)):
            return Assignment(name, start, Word(pos, pos, "", []), None)
        return Assignment(name, start, self.word(in_assignment=True), None)

    def _array(self) -> list[Word]:
        self.pos += 1
        items: list[Word] = []
        while True:
            self.skip_lines()
            if self.pos >= self.end:
                raise Unreadable("an array does not end")
            if self.text[self.pos] == ")":
                self.pos += 1
                return items
            items.append(self.word())

    def redirect(self) -> Redirect | None:
        text, start, end = self.text, self.pos, self.end
        pos = start
        while pos < end and text[pos] in "0123456789":
            pos += 1
        if pos == start and text[pos] == "{":
            pos = self._named_descriptor(pos)
        if pos >= end or text[pos] not in "<>&" or (text[pos] == "&" and pos > start):
            return None
        op = next((op for op in REDIRECTS if text.startswith(op, pos, end)), "")
        if not op or (op in "<>" and text.startswith("(", pos + 1)):
            return None
        self.pos = pos + len(op)
        if text.startswith("\\\n", self.pos):
            raise Unreadable("an operator may be split over two lines")
        self.skip()
        if op == "<<" or op == "<<-":
            return self._here(op, text[start:pos], start)
        target = self.word()
        return Redirect(op, text[start:pos], target, start, self.pos)

    def _named_descriptor(self, opening: int) -> int:
        """Behind {name} if a redirect follows at once, else `opening`."""
        text, pos = self.text, opening + 1
        while pos < self.end and text[pos] in NAME:
            pos += 1
        if pos > opening + 1 and text.startswith(("}<", "}>"), pos):
            return pos + 1
        return opening

    def _here(self, op: str, fd: str, start: int) -> Redirect:
        if self.operands:  # bash 5.2 joins the lines behind it when it puts the text back together
            raise Unreadable("a here-document within a parameter expansion")
        delimiter = self.word()
        if any(part.kind != LITERAL for part in delimiter.parts):
            raise Unreadable("the end of a here-document is an expansion")
        source = self.text[delimiter.start : delimiter.end]
        is_quoted = "'" in source or '"' in source or "\\" in source
        redirect = Redirect(op, fd, delimiter, start, self.pos)
        if len(self.waiting) >= MAX_HERE_DOCUMENTS:
            raise Unreadable("too many here-documents")
        self.waiting.append((redirect, "".join([part.text for part in delimiter.parts]), is_quoted))
        return redirect
