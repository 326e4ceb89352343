"""The mechanics of a rewrite: how the temp root in one word of a line is replaced, every other byte left as it is."""

from __future__ import annotations

from ..nouns.state import Site
from ..shell.syntax import COMMAND, LITERAL, Part, Sequence, Word
from .temproot import HIDDEN, TempRoot

SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+@%:=,-")

Edit = tuple[int, int, str]


def edited(command: str, edits: list[Edit]) -> str | None:
    """Apply them; two that overlap are none."""
    pieces, at = [], 0
    for start, end, text in sorted(set(edits)):
        if start < at:
            return None
        pieces += [command[at:start], text]
        at = end
    return "".join(pieces) + command[at:]


def shown(site: Site) -> str:
    """The unquoted word; what is not literal in it is hidden."""
    return "".join([part.text if part.kind == LITERAL else HIDDEN for part in site.word.parts])


def edit_of(site: Site, root: TempRoot, command: str) -> Edit | None:
    """Replace the root where it stands in one piece, else the whole word if all of it is literal."""
    word, start = shown(site), site.offset
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


def retold(tree: Sequence, command: str, changed: list[tuple[Word, Edit]]) -> Sequence | None:
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
