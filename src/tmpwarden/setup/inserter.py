"""Change a settings text where it differs from what is wanted, and nowhere else. Pure: text in, text out.

Comments, trailing commas, order of keys, tabs, line ends and the mark at the start stay as they are. The caller
parses the result again: it must be the wanted document.
"""

from __future__ import annotations

import difflib
import json
import re

from ..lazy_dataclass import dataclass
from .jsonc import JsonValue, Member, parse

_Change = tuple[int, int, str]  # from, to, what stands there then


def edited(text: str, wanted: object) -> str:
    """`text` with the least changes that make it say `wanted`."""
    style = _Style(text)
    changes = sorted(_changes(text, parse(text), wanted, style, 0))
    for start, end, new in reversed(changes):
        text = text[:start] + new + text[end:]
    return text


class _Style:
    """How the file is written: its indent and its line ends."""

    def __init__(self, text: str) -> None:
        self.newline = "\r\n" if "\r\n" in text else "\n"
        match = re.search(r"[{\[][ \t]*\r?\n([ \t]+)\S", text)
        self.indent = match[1] if match else "  "

    def json_text(self, value: object, depth: int) -> str:
        json_text = json.dumps(value, indent=self.indent, ensure_ascii=False)
        if any("\ud800" <= char <= "\udfff" for char in json_text):  # half a pair: it has no bytes of its own
            json_text = json.dumps(value, indent=self.indent)
        return json_text.replace("\n", self.newline + self.indent * depth)


def _changes(text: str, node: JsonValue, wanted: object, style: _Style, depth: int) -> list[_Change]:
    if _same(node.plain(), wanted):
        return []
    if node.kind == "object" and isinstance(wanted, dict):
        old = [member.key for member in node.members]
        return _in_container(
            text=text, node=node, old=old, new=list(wanted), values=list(wanted.values()), style=style, depth=depth
        )
    if node.kind == "list" and isinstance(wanted, list):
        old, new = [_mark(member.node.plain()) for member in node.members], [_mark(item) for item in wanted]
        return _in_container(text=text, node=node, old=old, new=new, values=wanted, style=style, depth=depth)
    return [(node.start, node.end, style.json_text(wanted, depth))]


def _in_container(
    text: str, node: JsonValue, old: list[str], new: list[str], values: list[object], style: _Style, depth: int
) -> list[_Change]:
    """Members that are gone go, those that are new come behind their neighbour, those that differ are looked into."""
    changes: list[_Change] = []
    kept: list[Member] = []
    added: list[tuple[int, int]] = []  # behind which kept member, which new one
    # autojunk would pass over what is frequent from 200 members on, and rewrite what has not changed
    for word, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        pairs = list(zip(range(i1, i2), range(j1, j2), strict=False))
        if word == "replace" and node.kind == "object":
            pairs = []  # other keys: not the same thing with another value
        for i, j in pairs:
            changes += _changes(text, node.members[i].node, values[j], style, depth + 1)
            kept.append(node.members[i])
        added += [(len(kept) - 1, j) for j in range(j1 + len(pairs), j2)]
    removed = [member for member in node.members if all(member is not other for other in kept)]
    if removed:
        has_successor = any(behind == len(kept) - 1 for behind, _ in added)
        changes += _removals(text, node, removed, has_successor)
    if added:
        wanted = _Insertion(text, node, tuple(kept), tuple(added), names=new, values=values, style=style, depth=depth)
        changes += wanted.changes()
    return changes


def _removals(text: str, node: JsonValue, removed: list[Member], has_successor: bool) -> list[_Change]:
    """Each with its own comma and the white space before it; the last one's neighbour loses its comma too, unless the
    file ends its lists with one."""
    changes = []
    for member in removed:
        start = member.start - _blank_before(text, member.start)
        changes.append((start, member.comma + 1 if member.comma >= 0 else member.node.end, ""))
    last = node.members[-1]
    stays = [member for member in node.members if all(member is not other for other in removed)]
    if last.comma < 0 and stays and not has_successor and any(last is member for member in removed):
        changes.append((stays[-1].comma, stays[-1].comma + 1, ""))
    if not stays and not has_successor:  # nothing but white space would be left inside
        first, closing = changes[0][0], node.end - 1
        inner = text[last.node.end if last.comma < 0 else last.comma + 1 : closing]
        if not inner.strip() and text[node.start + 1 : first].strip() == "":
            return [(node.start + 1, closing, "")]
    return changes


@dataclass(frozen=True, slots=True)
class _Insertion:
    """New members of one object or list."""

    text: str
    node: JsonValue
    kept: tuple[Member, ...]
    added: tuple[tuple[int, int], ...]  # behind which kept member, which of `values`
    names: list[str]  # the keys, in an object
    values: list[object]
    style: _Style
    depth: int

    @property
    def is_flat(self) -> bool:
        """Everything stands on one line."""
        return bool(self.kept) and "\n" not in self.text[self.node.start : self.node.end]

    def changes(self) -> list[_Change]:
        if not self.kept:
            words = ",".join(self._member_text(number) for _, number in self.added)
            at = _end_of_words(self.text, self.node.start + 1, self.node.end - 1)
            return [(at, self.node.end - 1, words + self.style.newline + self.style.indent * self.depth)]
        return [change for behind in sorted({behind for behind, _ in self.added}) for change in self._behind(behind)]

    def _behind(self, behind: int) -> list[_Change]:
        """The members that follow one that stays; -1: in front of all of them."""
        new = [self._member_text(number) for other, number in self.added if other == behind]
        if behind < 0:
            start = self.kept[0].start
            return [(start, start, ",".join(new).lstrip() + "," + self._lead())]
        member = self.kept[behind]
        if member.comma >= 0:
            at = _end_of_line_comment(self.text, member.comma + 1)
            is_followed = behind < len(self.kept) - 1 or self.node.members[-1].comma >= 0
            return [(at, at, ",".join(new) + ("," if is_followed else ""))]
        at = _end_of_words(self.text, member.node.end, self.node.end - 1)
        if at == member.node.end:
            return [(at, at, "," + ",".join(new))]
        return [(member.node.end, member.node.end, ","), (at, at, ",".join(new))]  # a comment stands in between

    def _member_text(self, number: int) -> str:
        key = json.dumps(self.names[number], ensure_ascii=False) + ": " if self.node.kind == "object" else ""
        value = self.values[number]
        if self.is_flat:
            return self._lead() + key + json.dumps(value, ensure_ascii=False)
        return self._lead() + key + self.style.json_text(value, self.depth + 1)

    def _lead(self) -> str:
        return " " if self.is_flat else self.style.newline + self.style.indent * (self.depth + 1)


def _blank_before(text: str, at: int) -> int:
    """How much white space stands before a member, the end of the line above it included, but not a comment."""
    before = text[:at]
    blank = len(before) - len(before.rstrip(" \t\r\n"))
    has_line_comment = "//" in before[: at - blank].rpartition("\n")[2]
    return blank if not has_line_comment or "\n" in before[at - blank :] else 0


def _end_of_words(text: str, start: int, end: int) -> int:
    """Behind the last comment between the two, or `start`."""
    return start + len(text[start:end].rstrip(" \t\r\n"))


def _end_of_line_comment(text: str, at: int) -> int:
    match = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)").match(text, at)
    return match.end() if match else at


def _same(one: object, other: object) -> bool:
    """Equal in kind too: 1 is not True and not 1.0 to an agent. The order of keys is not compared."""
    return _mark(one) == _mark(other)


def _mark(value: object) -> str:
    return json.dumps(value, sort_keys=True)
