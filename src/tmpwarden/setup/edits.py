"""What a setup wants to do to files, before anything is done: the diff that people see is the deed itself."""

from __future__ import annotations

import difflib
import json
import os
from dataclasses import dataclass

from ..errors import BrokenSettings
from ..oskit.files.atomic import at_once
from ..text import shown

Document = dict[str, object]
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Edit:
    """One file: None is "not there"."""

    path: str
    before: bytes | None
    after: bytes | None
    is_former: bool = True  # taking us out: `after` is what was there before we came, to the byte

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        old, new = (_lines(content) for content in (self.before, self.after))
        source, target = (
            shown(self.path) if content is not None else "/dev/null" for content in (self.before, self.after)
        )
        return "\n".join(difflib.unified_diff(old, new, source, target, lineterm=""))


def read(path: str) -> bytes | None:
    """The file's bytes, None if there is no such file. Raises BrokenSettings where something else is in the way."""
    try:
        with open(path, "rb", opener=at_once) as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BrokenSettings(shown(path), (error.strerror or "cannot be read").lower()) from None


def parse(path: str, content: bytes | None) -> Document:
    """The settings object in `content`. Raises BrokenSettings with the line: we never repair a file of the user's."""
    if content is None or not content.strip(_BOM + b" \t\r\n"):
        return {}
    try:
        text = content.decode("utf-8-sig")
        value = json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        line = text.splitlines()[error.lineno - 1] if text.splitlines()[error.lineno - 1 :] else ""
        why = "a comment, which would be lost" if line.lstrip().startswith(("//", "/*", "#")) else error.msg
        raise BrokenSettings(shown(path), f"line {error.lineno}: {why}") from None
    except _Twice as error:
        raise BrokenSettings(shown(path), f"{line_of(content, error.key)}: {error.key!r} stands there twice") from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise BrokenSettings(shown(path), f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BrokenSettings(shown(path), "line 1: not an object")
    return value


def line_of(content: bytes | None, key: str) -> str:
    """`line 7`: where `key` stands last."""
    spelled = json.dumps(key, ensure_ascii=False).encode("utf-8", "surrogatepass")
    lines = (content or b"").splitlines()
    return f"line {max((number for number, line in enumerate(lines, 1) if spelled in line), default=1)}"


class _Twice(Exception):
    def __init__(self, key: str) -> None:
        self.key = key


def _distinct(pairs: list[tuple[str, object]]) -> Document:
    """An agent takes one of two equal keys and ignores the other; to write the file anew would drop that one."""
    found = dict(pairs)
    for number, (key, _) in enumerate(pairs):
        if len(found) < len(pairs) and any(key == other for other, _ in pairs[:number]):
            raise _Twice(key)
    return found


def spell(document: Document, like: bytes | None) -> bytes:
    """JSON text with the indent, the line ends, the mark and the final newline of the file it replaces."""
    text = (like or b"").decode("utf-8-sig", "replace")
    inside = next((line for line in text.splitlines()[1:] if line.strip()), "  ")
    indent: str | int = inside[: len(inside) - len(inside.lstrip())] or 2
    ending = "" if text.strip() and not text.endswith("\n") else "\n"
    spelled = json.dumps(document, indent=indent, ensure_ascii=False) + ending
    if not _is_text(spelled):  # half a pair, as an escape: it has no bytes of its own
        spelled = json.dumps(document, indent=indent) + ending
    if "\r\n" in text:
        spelled = spelled.replace("\n", "\r\n")
    return (_BOM if (like or b"").startswith(_BOM) else b"") + spelled.encode("utf-8")


def _is_text(spelled: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in spelled)


def resolved(path: str) -> str:
    """Where a link leads: people keep their settings in a repository of dotfiles."""
    return os.path.realpath(path)


def _lines(content: bytes | None) -> list[str]:
    return [shown(line) for line in (content or b"").decode("utf-8", "surrogateescape").splitlines()]
