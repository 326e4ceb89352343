"""What a command is told to do in another language (SQL, the shells of databases): looked for word by word."""

from __future__ import annotations

from ..nouns.analysis import Simple
from ..rules.glob import matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MARKS = str.maketrans(dict.fromkeys("()[]{},\"'`\t\n\r", " ") | {";": " ; "})
_SPEAKERS = ("echo", "printf", "cat")
MAX_TEXT = 50_000


def holds(wanted: list[str], simple: Simple, line: tuple[Simple, ...], unfiltered: bool) -> bool:
    """Is one of these sequences of words in what the command is told, by argument, here-document or pipe?"""
    sequences = [text.split() for text in wanted]
    return any(_has(_words(text), sequences, unfiltered) for text in _told(simple, line))


def _told(simple: Simple, line: tuple[Simple, ...]) -> Iterator[str]:
    """Its own words and its input; what others in the line say may be piped to it."""
    for word in simple.argv[1:]:
        if word is not None:
            yield word
            if word[:2] == "--" and "=" in word:
                yield word.partition("=")[2]
            elif word[:1] == "-" and len(word) > 2:
                yield word[2:]
    yield " ".join([word for word in simple.argv[1:] if word is not None])
    yield simple.input
    for other in line:
        if other.name in _SPEAKERS:
            yield " ".join([word for word in other.argv[1:] if word is not None])
            yield other.input


def _words(text: str) -> list[str]:
    """In small letters, without comments and marks."""
    text = text[:MAX_TEXT]
    while "/*" in text:
        before, _, rest = text.partition("/*")
        text = f"{before} {rest.partition('*/')[2]}"
    lines = [line.partition("-- ")[0] for line in text.split("\n")]
    return "\n".join(lines).replace("\\n", " ").translate(_MARKS).lower().split()


def _has(words: list[str], sequences: Iterable[list[str]], unfiltered: bool) -> bool:
    for sequence in sequences:
        for at in range(len(words) - len(sequence) + 1):
            is_there = all(_fits(globs, word) for globs, word in zip(sequence, words[at:], strict=False))
            end = words.index(";", at) if ";" in words[at:] else len(words)
            if is_there and not (unfiltered and "where" in words[at:end]):
                return True
    return False


def _fits(globs: str, word: str) -> bool:
    return any(matches(glob, word) for glob in globs.split("|"))
