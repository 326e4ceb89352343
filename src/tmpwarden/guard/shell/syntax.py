"""The shapes of a bash command line. Every start and end is an index into the text that was read."""

from __future__ import annotations

# kinds of Part
LITERAL = "literal"  # text: what bash makes of it; quote: how it was written
PARAMETER = "parameter"  # text: name; op: what stands behind it; parts: the operand
COMMAND = "command"  # body: $(...) or `...`
PROCESS = "process"  # body: <(...) or >(...)
ARITHMETIC = "arithmetic"  # parts: the substitutions inside
TILDE = "tilde"  # text: the user, or ""

# of test and [[: a file is looked at
FILE_TESTS = frozenset(f"-{letter}" for letter in "bcdefghkprsuwxGLNOS")
FILE_COMPARISONS = frozenset(("-nt", "-ot", "-ef"))


class Unreadable(Exception):
    """The text is no bash that we understand; the words say why."""


class Part:
    """A piece of a word with one way of quoting: '' ' " $ (for $'...') or a backslash."""

    __slots__ = ("body", "end", "kind", "op", "parts", "quote", "start", "text")

    def __init__(self, kind: str, text: str, start: int, end: int, quote: str = "") -> None:
        self.kind = kind
        self.text = text
        self.start = start
        self.end = end
        self.quote = quote
        self.op = ""
        self.parts: list[Part] = []
        self.body: Sequence | None = None


class Word:
    """One word. `text` is set where nothing in it is expanded; `magic`: has unquoted * ? [ or {."""

    __slots__ = ("end", "magic", "parts", "start", "text")

    def __init__(self, start: int, end: int, text: str | None, parts: list[Part], magic: bool = False) -> None:
        self.start = start
        self.end = end
        self.text = text
        self.parts = parts
        self.magic = magic


class Redirect:
    """`fd` is what stands before the operator. Here-documents have their expansions in `parts`."""

    __slots__ = ("body", "end", "fd", "op", "parts", "start", "target")

    def __init__(self, op: str, fd: str, target: Word, start: int, end: int) -> None:
        self.op = op
        self.fd = fd
        self.target = target
        self.start = start
        self.end = end
        self.body: str | None = None  # the text of a here-document
        self.parts: list[Part] | None = None  # None: its delimiter was quoted, nothing is expanded


class Assignment:
    """NAME=value, NAME+=value, NAME[index]=value or NAME=(array)."""

    __slots__ = ("end", "index", "is_append", "items", "name", "start", "value")

    def __init__(self, name: str, start: int, value: Word | None, items: list[Word] | None) -> None:
        self.name = name
        self.start = start
        self.end = value.end if value else start
        self.value = value
        self.items = items  # of an array, else None
        self.index: list[Part] | None = None
        self.is_append = False


class Node:
    """A command of any kind, with the redirects that stand behind it."""

    __slots__ = ("end", "redirects", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = start
        self.redirects: list[Redirect] = []


class SimpleCommand(Node):
    """Assignments, words and redirects. A word behind `export` and its kin may be an Assignment."""

    __slots__ = ("assignments", "words")

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.assignments: list[Assignment] = []
        self.words: list[Word | Assignment] = []


class Sequence(Node):
    """Commands one after the other; the separator behind each is ';', '&' or ''."""

    __slots__ = ("items",)

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.items: list[tuple[Node, str]] = []


class AndOr(Node):
    __slots__ = ("first", "rest")

    def __init__(self, first: Node) -> None:
        super().__init__(first.start)
        self.first = first
        self.rest: list[tuple[str, Node]] = []


class Pipeline(Node):
    __slots__ = ("is_negated", "stages")

    def __init__(self, start: int, stages: list[Node], is_negated: bool) -> None:
        super().__init__(start)
        self.stages = stages
        self.is_negated = is_negated


TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


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
