"""Commands in a row: sequences, && and ||, pipelines, and the redirects behind a compound command."""

from __future__ import annotations

from .commands import Commands
from .syntax import AndOr, Node, Pipeline, Sequence, Unreadable

CLOSING = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
ENDS_SEQUENCE = frozenset((")", ";;", ";&", ";;&"))


class Lists(Commands):
    """Adds lists; compound commands are left to the Reader."""

    def sequence(self) -> Sequence:
        """Commands up to the end, a closing parenthesis, the end of a case clause or a closing reserved word."""
        result = Sequence(self.pos)
        while True:
            self.skip_lines()
            operator = self.operator()
            if self.pos >= self.end or operator in ENDS_SEQUENCE or self.bare_word() in CLOSING:
                break
            if operator and operator != "(":
                raise Unreadable("an operator in an odd place")
            if 0 <= self.here_floor < self.here_seen:
                # bash 5.2 puts the text of $(...) together anew and loses a ';' behind a here-document
                raise Unreadable("commands behind a here-document within a substitution")
            node = self._and_or()
            self.skip()
            operator = self.operator()
            result.items.append((node, operator if operator == "&" else ";"))
            if operator == ";" or operator == "&":
                self.pos += 1
            elif operator != "\n":
                if operator in ENDS_SEQUENCE or self.pos >= self.end:
                    break
                raise Unreadable("something stands in an odd place")
        result.end = self.pos
        return result

    def filled(self) -> Sequence:
        """A sequence that must not be empty."""
        body = self.sequence()
        if not body.items:
            raise Unreadable("a command is missing")
        return body

    def _and_or(self) -> Node:
        first = self._pipeline()
        chain: AndOr | None = None
        while True:
            self.skip()
            operator = self.operator()
            if operator != "&&" and operator != "||":
                break
            self.pos += 2
            self.skip_lines()
            if chain is None:
                chain = AndOr(first)
            chain.rest.append((operator, self._pipeline()))
        if chain is None:
            return first
        chain.end = chain.rest[-1][1].end
        return chain

    def _pipeline(self) -> Node:
        start = self.pos
        is_negated = self._prefixes()
        if start != self.pos and (self.pos >= self.end or self.operator() in (";", "&", "\n", ")")):
            return Sequence(start)  # `time` and `!` alone
        first = self.command()
        self.skip()
        operator = self.operator()
        if operator != "|" and operator != "|&" and not is_negated:
            return first
        stages = [first]
        while operator == "|" or operator == "|&":
            self.pos += len(operator)
            self.skip_lines()
            stages.append(self.command())
            self.skip()
            operator = self.operator()
        pipeline = Pipeline(start, stages, is_negated)
        pipeline.end = stages[-1].end
        return pipeline

    def _prefixes(self) -> bool:
        """Pass `!` and `time`."""
        is_negated = False
        while True:
            word = self.bare_word()
            if word == "!":
                is_negated = not is_negated
                self.take_word()
            elif word == "time":
                self.take_word()
                while self.bare_word() in ("-p", "--"):
                    self.take_word()
            else:
                return is_negated

    def take_word(self) -> None:
        self.pos = self.bare_end
        self.skip()

    def expect(self, word: str) -> None:
        self.skip_lines()
        if self.bare_word() != word:
            raise Unreadable(f"'{word}' is missing")
        self.pos = self.bare_end

    def command(self) -> Node:
        self.skip()
        if self.pos >= self.end:
            raise Unreadable("a command is missing")
        operator = self.operator()
        start = self.pos
        node = self.compound(operator)
        if node is None:
            return self.simple()
        node.start = start
        return self._with_redirects(node)

    def _with_redirects(self, node: Node) -> Node:
        node.end = self.pos
        while True:
            self.skip()
            if self.pos >= self.end or self.text[self.pos] not in "<>&{0123456789":
                return node
            redirect = self.redirect()
            if redirect is None:
                return node
            node.redirects.append(redirect)
            node.end = self.pos

    def compound(self, operator: str) -> Node | None:
        """The compound command that starts here, None if a simple one does."""
        raise NotImplementedError
