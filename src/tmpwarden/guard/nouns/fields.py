"""One argument of a program, put together from the pieces of a word, and the command that is given them."""

from __future__ import annotations

from ..shell.syntax import PARAMETER, Node, Part, Redirect, Word
from .analysis import PathUse
from .state import Site, Value

MAX_TEXT = 20_000


class Field:
    """One argument. `text` None: not known. `pattern_at`: where in `stem` a part begins that may be any name."""

    __slots__ = ("declares", "is_data", "pattern_at", "sites", "stem", "text", "word")

    def __init__(self, text: str | None, word: Word | None, sites: tuple[Site, ...] = ()) -> None:
        self.text = text
        self.stem = text  # as text, but numbers that are not known stand as ? in it
        self.word = word
        self.sites = sites
        self.pattern_at = -1
        self.is_data = False  # what is not known comes from outside: no word of the line says what it is
        self.declares: tuple[str, Value] | None = None  # NAME=value behind export


class Builder:
    """Collects the fields of one word."""

    __slots__ = (
        "fields", "is_data", "is_known", "is_open", "is_single", "pattern_at", "pieces", "sites", "size", "stem_only",
        "word",
    )  # fmt: skip

    def __init__(self, word: Word | None) -> None:
        self.fields: list[Field] = []
        self.word = word
        self.is_single = False  # as in an assignment: "$@" is one text
        self._reset()

    def _reset(self) -> None:
        self.pieces: list[str] = []
        self.size = 0
        self.sites: tuple[Site, ...] = ()
        self.is_open = False  # a field exists even if it is empty
        self.is_known = True
        self.is_data = True
        self.stem_only = False
        self.pattern_at = -1

    def add(self, text: str, is_pattern: bool = False) -> None:
        if is_pattern and self.pattern_at < 0:
            for at, c in enumerate(text):
                if c in "*?[":
                    self.pattern_at = self.size + at
                    break
        self.pieces.append(text)
        self.size += len(text)
        self.is_open = True
        if self.size > MAX_TEXT:  # A=$A$A doubles each time
            self.pieces, self.is_known = [], False

    def add_number(self) -> None:
        if self.pattern_at < 0:
            self.pattern_at = self.size
        self.add("?")
        self.stem_only = True

    def add_stem(self, stem: str, pattern_at: int) -> None:
        if self.pattern_at < 0 <= pattern_at:
            self.pattern_at = self.size + pattern_at
        self.add(stem)
        self.stem_only = True

    def add_fresh(self, path: str) -> None:
        """A name that is not known and not taken: as good as this one to every rule, and no allow rests on it."""
        self.add(path)
        self.stem_only = True

    def add_unknown(self, *, is_name: bool = False) -> None:
        """Behind `out/` or `dist/app-` a name is some name in there, as good as a pattern: no allow rests on it."""
        if is_name and self.is_known and begins_a_name("".join(self.pieces)):
            self.add("*", is_pattern=True)
            self.stem_only = True
            return
        self.is_known = False
        self.is_open = True
        self.is_data = self.is_data and is_name

    def split(self, text: str) -> None:
        """An unquoted value: blanks in it part the fields, patterns in it are patterns."""
        if text[:1] in (" ", "\t", "\n"):
            self.close()
        pieces = [piece for piece in text.replace("\t", " ").replace("\n", " ").split(" ") if piece]
        for at, piece in enumerate(pieces):  # only these three part words: a no-break space does not
            if at:
                self.close()
            self.add(piece, is_pattern=True)
        if text[-1:] in (" ", "\t", "\n"):
            self.close()

    def close(self) -> None:
        if not self.is_open:
            return
        joined = "".join(self.pieces)
        field = Field(joined if self.is_known and not self.stem_only else None, self.word, self.sites)
        field.stem = joined if self.is_known else None
        field.pattern_at = self.pattern_at if self.is_known else -1
        field.is_data = self.is_data and not self.is_known
        self.fields.append(field)
        self._reset()


def begins_a_name(head: str) -> bool:
    """It has a directory or the beginning of a name in front, and not only a root: `/$X` and `./$X` may be all."""
    head = head.rpartition("=")[2]
    if head[:1] == "-" or ":" in head or " " in head or ".." in head:
        return False
    depth = len([name for name in head.split("/") if name not in ("", ".", "~")])
    return depth > 1 if head[:1] == "/" else depth > 0


def is_other_in_zsh(before: Part | None, part: Part) -> bool:
    """$X[1] and $X:h are a character and the directory of X to zsh, which agents use where it is the user's shell."""
    if before is None or before.kind != PARAMETER or before.end - before.start != len(before.text) + 1:
        return False
    return part.text[0:1] == "[" or (part.text[0:1] == ":" and part.text[1:2].isalpha())


class Invocation:
    """A simple command on its way through its wrappers."""

    __slots__ = ("body", "doubts", "fields", "is_remote", "node", "redirects", "skips_functions", "wrappers")

    def __init__(self, node: Node, fields: list[Field], redirects: list[PathUse], body: Redirect | None) -> None:
        self.node = node
        self.fields = fields
        self.redirects = redirects
        self.body = body  # the here-document or here-string on its input
        self.wrappers: tuple[str, ...] = ()
        self.doubts: tuple[str, ...] = ()
        self.is_remote = False
        self.skips_functions = False  # only a name that the shell itself looks up can be a function

    @property
    def name(self) -> str:
        """The last component of the first word, "" if that is not known."""
        return (self.fields[0].text or "").rpartition("/")[2]

    def inside(self, wrapper: str, fields: list[Field]) -> Invocation:
        """What the wrapper runs, with the files that the shell opens for it."""
        inner = Invocation(self.node, fields, self.redirects, self.body)
        inner.wrappers = (*self.wrappers, wrapper)
        inner.doubts = self.doubts
        inner.is_remote = self.is_remote
        inner.skips_functions = True
        return inner

    def quiet(self) -> Invocation:
        """Without the redirects: they were told with the command around it."""
        self.redirects = []
        self.body = None
        return self
