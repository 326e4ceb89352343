"""Brace expansion: a{b,c} and {1..3}, on the pieces of a word so that quotes keep their meaning."""

from __future__ import annotations

from ..shell.syntax import LITERAL, TILDE, Part

MAX_WORDS = 256
MAX_ATOMS, MAX_BRACES = 512, 16  # each brace that stays open is looked for to the end of the word

Atom = tuple[str, "Part | None"]  # a free character, or ('', a piece that is taken as a whole)


def braces(parts: list[Part]) -> list[list[Part]] | None:
    """All words it stands for, None if there are too many."""
    atoms: list[Atom] = []
    for part in parts:
        if part.kind == LITERAL and not part.quote:
            atoms.extend([(c, None) for c in part.text])
        else:
            atoms.append(("", part))
    if len(atoms) > MAX_ATOMS or sum([c == "{" for c, _ in atoms]) > MAX_BRACES:
        return None
    words = _expand(atoms, 0)
    return None if words is None else [_joined(word, parts) for word in words]


def _expand(atoms: list[Atom], depth: int) -> list[list[Atom]] | None:
    if depth > 16:
        return None
    opening = -1
    for at, (c, _) in enumerate(atoms):
        if c == "{":
            group = _alternatives(atoms, at)
            if group is not None:
                opening = at
                break
    if opening < 0:
        return [atoms]
    alternatives, closing = group  # type: ignore[misc]
    tails = _expand(atoms[closing + 1 :], depth + 1)
    if tails is None:
        return None
    words: list[list[Atom]] = []
    for alternative in alternatives:
        middles = _expand(alternative, depth + 1)
        if middles is None or len(words) + len(middles) * len(tails) > MAX_WORDS:
            return None
        words += [atoms[:opening] + middle + tail for middle in middles for tail in tails]
    return words


def _alternatives(atoms: list[Atom], opening: int) -> tuple[list[list[Atom]], int] | None:
    """What stands between the commas of the brace that opens here, and where it closes; None if it is no brace."""
    nested, start = 0, opening + 1
    choices: list[list[Atom]] = []
    for at in range(opening + 1, len(atoms)):
        c = atoms[at][0]
        if c == "{":
            nested += 1
        elif c == "," and nested == 0:
            choices.append(atoms[start:at])
            start = at + 1
        elif c == "}":
            if nested:
                nested -= 1
                continue
            if choices:
                return [*choices, atoms[start:at]], at
            steps = _range("".join([c or "\0" for c, _ in atoms[start:at]]))
            return None if steps is None else (steps, at)
    return None


def _range(text: str) -> list[list[Atom]] | None:
    ends = text.split("..")
    if len(ends) not in (2, 3) or not all(ends) or "_" in text or not text.isascii():
        return None
    try:
        if len(ends[0]) == len(ends[1]) == 1 and ends[0].isalpha() and ends[1].isalpha():
            first, last, width = ord(ends[0]), ord(ends[1]), -1
        else:
            first, last = int(ends[0]), int(ends[1])
            padded = any(end.lstrip("-").startswith("0") and len(end.lstrip("-")) > 1 for end in ends[:2])
            width = max(len(ends[0]), len(ends[1])) if padded else 0
        step = abs(int(ends[2])) or 1 if len(ends) == 3 else 1
    except ValueError:
        return None
    if abs(last - first) // step > MAX_WORDS:
        return [[("", None)]] * (MAX_WORDS + 1)  # too many: the caller gives up
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    return [[(c, None) for c in (chr(n) if width < 0 else str(n).zfill(width))] for n in numbers]


def _joined(atoms: list[Atom], parts: list[Part]) -> list[Part]:
    """Back to pieces; those that were free text have no place of their own any more."""
    joined: list[Part] = []
    text = ""
    for c, part in atoms:
        if part is None:
            text += c
            continue
        if text:
            joined.append(Part(LITERAL, text, -1, -1))
            text = ""
        joined.append(part)
    if text:
        joined.append(Part(LITERAL, text, -1, -1))
    first = joined[0] if joined else None
    if first is not None and first.kind == LITERAL and not first.quote and first.text.startswith("~"):
        user, slash, rest = first.text[1:].partition("/")
        joined[:1] = [Part(TILDE, user, -1, -1), Part(LITERAL, slash + rest, -1, -1)]
    return joined
