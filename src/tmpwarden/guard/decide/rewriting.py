"""Temp roots in the words of a line: which paths are led into the scratch, and how a word is edited."""

from __future__ import annotations

from ..nouns.state import Site
from ..shell.syntax import COMMAND, LITERAL, Part, Sequence, Word
from .owning import is_kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..nouns.paths import Look

HIDDEN = "\0"  # stands for a part of a word that is not known


class TempRoot:
    """The rules of one rewrite: from any of the roots into the scratch."""

    __slots__ = ("keep", "look", "roots", "scratch")

    def __init__(self, scratch: str, roots: tuple[str, ...], keep: tuple[str, ...], look: Look) -> None:
        self.scratch = scratch
        self.roots = roots
        self.keep = keep
        self.look = look

    def end_of_root(self, path: str) -> int:
        """Where the temp root ends that the path starts with, -1 if it does not. //tmp and /./tmp are /tmp."""
        for root in self.roots:
            at = 0
            for name in root.split("/")[1:]:
                at = _behind(path, at, name)
                if at < 0:
                    break
            else:
                return at
        return -1

    def rest_of(self, path: str) -> str | None:
        """The path below the temp root, '' for the root itself; None where it must stay as it is."""
        at = self.end_of_root(path)
        if at < 0:
            return None
        rest = path[at:].lstrip("/")
        if _climbs_out(rest) or self._is_kept(rest) or self._is_in_scratch(path[at:]):
            return None
        return rest

    def _is_kept(self, rest: str) -> bool:
        first = rest.partition("/")[0]
        if not first or first.startswith(HIDDEN):
            return False
        return self._is_shared(first) or is_kept(first, self.keep)

    def _is_shared(self, first: str) -> bool:
        """The directory that holds the scratches of all sessions."""
        for root in self.roots:
            if self.scratch.startswith(root + "/"):
                above, _, below = self.scratch[len(root) + 1 :].partition("/")
                return bool(below) and first == above
        return False

    def _is_in_scratch(self, below: str) -> bool:
        names = _names(below)
        for root in self.roots:
            if self.scratch.startswith(root + "/"):
                inside = _names(self.scratch[len(root) :])
                return names[: len(inside)] == inside
        return False


def _behind(path: str, at: int, name: str) -> int:
    """Behind the component `name`, which must come next."""
    if path[at : at + 1] != "/":
        return -1
    while True:
        while path[at : at + 1] == "/":
            at += 1
        if path[at : at + 2] != "./":
            break
        at += 1
    stop = at + len(name)
    return stop if path.startswith(name, at) and path[stop : stop + 1] in ("", "/") else -1


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name and name != "."]


def _climbs_out(rest: str) -> bool:
    depth = 0
    for name in _names(rest):
        depth += -1 if name == ".." else 1
        if depth < 0:
            return True
    return False


SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+@%:=,-")

Edit = tuple[int, int, str]


def apply_edits(command: str, edits: list[Edit]) -> str | None:
    """Apply them; two that overlap are none."""
    pieces, at = [], 0
    for start, end, text in sorted(set(edits)):
        if start < at:
            return None
        pieces += [command[at:start], text]
        at = end
    return "".join(pieces) + command[at:]


def visible_text(site: Site) -> str:
    """The unquoted word; what is not literal in it is hidden."""
    return "".join([part.text if part.kind == LITERAL else HIDDEN for part in site.word.parts])


def edit_of(site: Site, root: TempRoot, command: str) -> Edit | None:
    """Replace the root where it stands in one piece, else the whole word if all of it is literal."""
    word, start = visible_text(site), site.offset
    end = start + root.end_of_root(word[start:])
    at = 0
    for part in site.word.parts:
        size = len(part.text) if part.kind == LITERAL else 1
        if at <= start and end <= at + size:
            place = _place(part, command)
            text = _fitting(root.scratch, part.quote, site.is_nested)
            if place is not None and text is not None:
                return place + start - at, place + end - at, text
        at += size
    if HIDDEN in word or site.word.magic:
        return None
    text = _fitting(word[:start] + root.scratch + word[end:], "", site.is_nested)
    return None if text is None else (site.word.start, site.word.end, text)


def _place(part: Part, command: str) -> int | None:
    """Where the text of the part starts in the command, if it stands there as it is."""
    place = part.start + (part.quote == "'")
    is_same = part.kind == LITERAL and part.start >= 0 and command.startswith(part.text, place)
    return place if is_same and part.quote in ("", "'", '"') else None


def _fitting(text: str, quote: str, is_nested: bool) -> str | None:
    """The text so that it means itself between these quotes; None if it cannot."""
    if SAFE.issuperset(text):
        return text
    if is_nested or "'" in text:
        return None
    if quote == "":
        return f"'{text}'"
    return text if quote == "'" or not any(c in '"\\$`' for c in text) else None


def edit_tree(tree: Sequence, command: str, changed: list[tuple[Word, Edit]]) -> Sequence | None:
    """The same tree with the edits in these words, as the edited text would be read; None: that has to be done."""
    edits = {id(word): edit for word, edit in changed}
    words = {id(word): word for word, _ in changed}
    if len(set(edits.values())) < len({edit for _, edit in changed}):
        return None  # two in one word
    if not all(_is_retold(word, edits[at], command) for at, word in words.items()):
        return None
    _shift(tree, set(edits.values()))
    return tree


def _is_retold(word: Word, edit: Edit, command: str) -> bool:
    """Put the new text into a word, whose places are still those in the old one."""
    start, end, text = edit
    if not SAFE.issuperset(text):
        return False  # it has quotes of its own
    for part in word.parts:
        place = _place(part, command)
        if place is not None and place <= start and end <= place + len(part.text):
            part.text = part.text[: start - place] + text + part.text[end - place :]
            break
    else:
        if (start, end) != (word.start, word.end):
            return False
        word.parts[:] = [Part(LITERAL, text, word.start, word.end)]
    if word.text is not None:
        word.text = "".join([part.text for part in word.parts])
    return True


def _shift(tree: Sequence, edits: set[Edit]) -> None:
    """Every place in the tree becomes the one in the edited text. A text of its own, in backticks, has its own."""
    todo: list[object] = [tree]
    seen: set[int] = set()
    while todo:
        one = todo.pop()
        if isinstance(one, (list, tuple)):
            todo += one
        elif hasattr(one, "__slots__") and id(one) not in seen:
            seen.add(id(one))
            names = [name for kind in type(one).__mro__ for name in getattr(kind, "__slots__", ())]
            for name in names:
                value = getattr(one, name)
                if name in ("start", "end"):
                    moved = [len(text) - (end - start) for start, end, text in edits if end <= value]
                    setattr(one, name, value + sum(moved))
                elif name != "body" or not isinstance(one, Part) or not (one.kind == COMMAND and one.text):
                    todo.append(value)
