"""JSON as people keep it in settings: comments, trailing commas. Every value with its place in the text. Pure."""

from __future__ import annotations

import json
import re

from ..lazy_dataclass import dataclass, field

_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null')
_DEEPEST = 200


class BrokenJson(ValueError):
    """Not JSON, even so: what is wrong, and where."""

    def __init__(self, text: str, at: int, why: str) -> None:
        super().__init__(why)
        self.why = why
        self.line = text.count("\n", 0, at) + 1


@dataclass(slots=True)
class Member:
    """One item of an object or a list."""

    start: int  # of its key, or of the value where there is none
    node: JsonValue
    key: str = ""
    comma: int = -1  # where its own comma stands


@dataclass(slots=True)
class JsonValue:
    start: int
    end: int
    value: object  # of a plain value; an object and a list have members
    kind: str = "plain"  # plain, object, list
    members: list[Member] = field(default_factory=list)

    def plain(self) -> object:
        """The value as Python has it."""
        if self.kind == "object":
            return {member.key: member.node.plain() for member in self.members}
        return [member.node.plain() for member in self.members] if self.kind == "list" else self.value


def parse(text: str) -> JsonValue:
    """The one value in `text`. Raises BrokenJson, also for a key that appears twice: agents take one of them."""
    node = _value(text, _skip(text, 0), 0)
    end = _skip(text, node.end)
    if end != len(text):
        raise BrokenJson(text, end, "there is text after the settings")
    return node


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _value(text: str, at: int, depth: int) -> JsonValue:
    if depth > _DEEPEST:
        raise BrokenJson(text, at, "nested too deep")
    if text[at : at + 1] in ("{", "["):
        return _container(text, at, depth)
    match = _SCALAR.match(text, at)
    if match is None:
        raise BrokenJson(text, at, "a value is missing" if at < len(text) else "it ends too early")
    try:
        return JsonValue(at, match.end(), json.loads(match[0]))
    except ValueError as wrong:
        raise BrokenJson(text, at, str(wrong)) from None


def _container(text: str, opened: int, depth: int) -> JsonValue:
    is_object = text[opened] == "{"
    closing = "}" if is_object else "]"
    node = JsonValue(opened, opened, None, "object" if is_object else "list")
    at, seen = _skip(text, opened + 1), set[str]()
    while text[at : at + 1] != closing:
        if node.members and node.members[-1].comma < 0:
            raise BrokenJson(text, at, "a comma is missing" if at < len(text) else "it ends too early")
        start, key = at, ""
        if is_object:
            key, at = _key(text, at)
            if key in seen:
                raise BrokenJson(text, start, f"{key!r} appears twice")
            seen.add(key)
        member = Member(start, _value(text, at, depth + 1), key)
        node.members.append(member)
        at = _skip(text, member.node.end)
        if text[at : at + 1] == ",":
            member.comma = at
            at = _skip(text, at + 1)
    node.end = at + 1
    return node


def _key(text: str, at: int) -> tuple[str, int]:
    match = _SCALAR.match(text, at)
    if match is None or match[0][0] != '"':
        raise BrokenJson(text, at, "a key is missing" if at < len(text) else "it ends too early")
    colon = _skip(text, match.end())
    if text[colon : colon + 1] != ":":
        raise BrokenJson(text, colon, "a colon is missing")
    return str(json.loads(match[0])), _skip(text, colon + 1)
