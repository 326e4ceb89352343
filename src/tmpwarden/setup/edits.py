"""What a setup wants to do to files, before anything is done: the diff that people see is the deed itself."""

from __future__ import annotations

import difflib
import json
import os

from ..errors import BrokenSettings, FrozenMount
from ..lazy_dataclass import dataclass
from ..oskit.files.atomic import at_once
from ..oskit.proc.own_mount import frozen_way
from ..text import shown
from . import inserter, jsonc

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
    must_answer(path)
    try:
        with open(path, "rb", opener=at_once) as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BrokenSettings(shown(path), (error.strerror or "cannot be read").lower()) from None


def must_answer(path: str) -> None:
    """Raises BrokenSettings where a mount on the way would keep everybody waiting who looks at `path`."""
    if point := frozen_way(path):
        raise BrokenSettings(
            shown(path), f"the file system mounted at {shown(point)} does not respond", hint=FrozenMount.hint
        )


def parse(path: str, content: bytes | None) -> Document:
    """The settings object in `content`, which may have comments. Raises BrokenSettings with the line: we never repair a
    file of the user's."""
    if content is None or not content.strip(_BOM + b" \t\r\n"):
        return {}
    try:
        value = jsonc.parse(content.decode()).plain()
    except jsonc.BrokenJson as error:
        raise BrokenSettings(shown(path), f"line {error.line}: {error.why}") from None
    except UnicodeDecodeError as error:
        raise BrokenSettings(shown(path), f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BrokenSettings(shown(path), "line 1: not an object")
    return value


def line_of(content: bytes | None, key: str) -> str:
    """`line 7`: where `key` stands last."""
    key_text = json.dumps(key, ensure_ascii=False).encode("utf-8", "surrogatepass")
    lines = (content or b"").splitlines()
    return f"line {max((number for number, line in enumerate(lines, 1) if key_text in line), default=1)}"


def spell(path: str, document: Document, like: bytes | None) -> bytes:
    """The bytes that say `document`: those of `like` where they say so already, and ours where they do not.

    Raises BrokenSettings with the text to paste if the result would not be exactly the document.
    """
    text = (like or b"").decode()
    if not text.strip("\ufeff \t\r\n"):
        return (_BOM if text.startswith("\ufeff") else b"") + f"{json.dumps(document, indent=2)}\n".encode()
    new_text = inserter.edited(text, document)
    try:
        is_right = jsonc.parse(new_text).plain() == document
    except jsonc.BrokenJson:
        is_right = False
    if not is_right:
        known = jsonc.parse(text).plain()
        ours = {key: value for key, value in document.items() if not isinstance(known, dict) or known.get(key) != value}
        raise BrokenSettings(shown(path), "it cannot be changed safely", hint=f"paste into it: {json.dumps(ours)}")
    return new_text.encode()


def resolved(path: str) -> str:
    """Where a link leads: people keep their settings in a repository of dotfiles."""
    must_answer(path)
    return os.path.realpath(path)


def _lines(content: bytes | None) -> list[str]:
    return [shown(line) for line in (content or b"").decode("utf-8", "surrogateescape").splitlines()]
