"""Findings as columns, each text once: 100,000 of them stay a page that a browser opens at once. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..lazy_dataclass import dataclass, field
from ..text import is_within, shown

AT_LEAST, UNDOABLE = 1, 2  # bits of `flags`
SAME = 0  # instead of a name: it is called as its session
_ROW_CHARS = 48  # the numbers of one row, about
_OUTSIDE = "outside the temp roots"
Row = Mapping[str, Any]


@dataclass(slots=True)
class _Texts:
    """Each text once; rows hold its number."""

    listed: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    chars: int = 0

    def number(self, text: str) -> int:
        known = self.numbers.get(text)
        if known is None:
            known = self.numbers[text] = len(self.listed)
            self.listed.append(text)
            self.chars += len(text) + 4
        return known


@dataclass(slots=True)
class Columns:
    """`add` rows, biggest first; what no longer fits is folded: its sums stay, its names do not."""

    most_chars: int
    roots: Sequence[str]
    texts: dict[str, _Texts] = field(default_factory=dict)
    rows: dict[str, list[Any]] = field(default_factory=dict)
    folded: dict[tuple[int, ...], list[int]] = field(default_factory=dict)
    names_chars: int = 0

    @classmethod
    def of(cls, findings: Iterable[Row], roots: Sequence[str], *, most_chars: int) -> Columns:
        columns = cls(most_chars, sorted(roots, key=len, reverse=True))
        for each in sorted(findings, key=lambda each: -(each["bytes"] or 0)):
            columns._add(each)
        return columns

    def document(self) -> dict[str, object]:
        folded = [[*key, *sums] for key, sums in self.folded.items()]
        return {**self.rows, "texts": {name: each.listed for name, each in self.texts.items()}, "folded": folded}

    def _add(self, each: Row) -> None:
        group = (
            self._text("roots", self._root_of(each["path"])),
            self._text("agents", shown(each["agent"])),
            self._text("litters", shown(each["litter"])),
            self._text("reasons", shown(each["reason"])),
            1 if each["verdict"] == "remove" else 0,
        )
        count, size, entries = each.get("count", 1), each["bytes"] or 0, each["entries"] or 0
        if self._chars() > self.most_chars:
            sums = self.folded.setdefault(group, [0, 0, 0, 0])
            self.folded[group] = [sums[0] + 1, sums[1] + count, sums[2] + size, sums[3] + entries]
            return
        directory, name = _parted(each["path"])
        owner, session = each["owner"], shown(each["owner"].get("session") or "")
        self.names_chars += (0 if name == session else len(name)) + _ROW_CHARS
        values = dict(zip(("root", "agent", "litter", "reason", "goes"), group, strict=True)) | {
            "dir": self._text("dirs", directory),
            "name": SAME if name == session else name,
            "session": self._text("sessions", session),
            "owner": self._text("owners", _owner(owner)),
            "why": self._text("whys", shown(each["why"])),
            "bytes": each["bytes"],
            "entries": each["entries"],
            "age": each["age_seconds"],
            "count": count,
            "flags": AT_LEAST * bool(each.get("at_least")) | UNDOABLE * bool(each.get("undoable")),
        }
        for key, value in values.items():
            self.rows.setdefault(key, []).append(value)

    def _text(self, kind: str, text: str) -> int:
        return self.texts.setdefault(kind, _Texts()).number(text)

    def _chars(self) -> int:
        return self.names_chars + sum(each.chars for each in self.texts.values())

    def _root_of(self, path: str) -> str:
        for root in self.roots:
            if is_within(path, root):
                return shown(root)
        return _OUTSIDE


def _parted(path: str) -> tuple[str, str]:
    """Directory and name as they are shown; a path that has to be escaped is one name, which a shell reads as it is."""
    words = shown(path)
    if words != path:
        return "", words
    directory, _, name = path.rpartition("/")
    return directory or "/", name


def _owner(owner: Mapping[str, Any]) -> str:
    state = {"alive": "alive", "dead": "gone", "absent": "gone", "unknown": "cannot tell", "none": "nobody"}
    words = state.get(owner.get("state", ""), "cannot tell")
    return f"{words} (pid {owner['pid']})" if owner.get("pid") is not None else words
