"""The shapes of compound commands: blocks, branches, loops, functions. Most lines have none."""

from __future__ import annotations

from .syntax import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .syntax import Part, Sequence, Word


class Block(Node):
    """A body in ( ), { } or behind coproc or time: `kind` says which. `name`: the variable that coproc sets."""

    __slots__ = ("body", "kind", "name")

    def __init__(self, start: int, kind: str, body: Node, name: str = "") -> None:
        super().__init__(start)
        self.kind = kind
        self.body = body
        self.name = name


class If(Node):
    __slots__ = ("branches", "otherwise")

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.branches: list[tuple[Sequence, Sequence]] = []
        self.otherwise: Sequence | None = None


class Loop(Node):
    """while, until and for ((...)): `parts` are the substitutions in the double parentheses."""

    __slots__ = ("body", "condition", "parts")

    def __init__(self, start: int, condition: Sequence | None, body: Sequence, parts: list[Part]) -> None:
        super().__init__(start)
        self.condition = condition
        self.body = body
        self.parts = parts


class For(Node):
    """for and select; `words` is None for "$@"."""

    __slots__ = ("body", "name", "words")

    def __init__(self, start: int, name: str, words: list[Word] | None, body: Sequence) -> None:
        super().__init__(start)
        self.name = name
        self.words = words
        self.body = body


class Case(Node):
    __slots__ = ("clauses", "subject")

    def __init__(self, start: int, subject: Word) -> None:
        super().__init__(start)
        self.subject = subject
        self.clauses: list[tuple[list[Word], Sequence, str]] = []


class Expression(Node):
    """[[ ... ]] or (( ... )): only the substitutions in it can run anything. `files`: what -f and its kin look at."""

    __slots__ = ("files", "parts")

    def __init__(self, start: int, parts: list[Part]) -> None:
        super().__init__(start)
        self.parts = parts
        self.files: list[Word] = []


class Function(Node):
    __slots__ = ("body", "name")

    def __init__(self, start: int, name: str, body: Node) -> None:
        super().__init__(start)
        self.name = name
        self.body = body
