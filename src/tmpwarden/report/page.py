"""Put the page together: markup, style, script and data in one file that asks nobody for anything.

Names from disk are hostile. They reach the page as JSON in which no character can end a script element, the script puts
them into text nodes only, and the policy of the page runs nothing but the one script whose hash it names.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

from ..lazy_dataclass import dataclass, field
from ..text import about, is_within, plural, shown, size

MOST_BYTES = 15 << 20
_SHARES = (0.8, 0.4, 0.15, 0.04, 0.0)  # of it for findings: the first that gives a page within the limit
_SCRIPTS = ("core", "rows", "space", "treemap", "usage", "found", "tables", "main")
_STYLES = ("base", "parts")
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_UNIT = re.compile(r"(\d) (?=%|[KMGT]?B\b|h\b|min\b|days\b)")  # a number and its unit stay on one line
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def written(
    document: Mapping[str, Any], findings: Sequence[Mapping[str, Any]], *, most_bytes: int = MOST_BYTES
) -> bytes:
    """The whole file. `document` is what the script reads, without the findings; those come with a `why` each."""
    for part in _SHARES:
        roots = [root["path"] for root in document["roots"]]
        columns = Columns.of(findings, roots, most_chars=int(part * most_bytes))
        html = _fill_in(dict(document) | {"findings": columns.document()}).encode(errors="replace")
        if len(html) <= most_bytes:
            break
    return html


def _fill_in(document: Mapping[str, Any]) -> str:
    style = "\n".join(_asset(f"{name}.css") for name in _STYLES)
    script = "\n".join(['"use strict";', "(() => {", *(_asset(f"{name}.js") for name in _SCRIPTS), "})();"])
    words, command = document["headline"]
    places = {
        "policy": _POLICY.format(script=_hash(script), style=_hash(style)),
        "title": html.escape(f"{words} {command}".strip()),
        "words": _UNIT.sub("\\1&nbsp;", html.escape(words)),
        "command": html.escape(command),
        "style": style,
        "script": script,
        "data": _embedded(document),
    }
    return _PLACE.sub(lambda match: places[match[1]], _asset("page.html"))


def _embedded(document: Mapping[str, Any]) -> str:
    """JSON that stands inside a script element: nothing in it is markup, whatever a name holds."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


# The one sentence on top of the page: how full, what may go, what to run. Pure.

Document = Mapping[str, Any]


def percent_of_bytes(root: Document) -> int:
    """As df tells it: rounded up, and what is reserved for root is no part of the whole."""
    return _percent(_used(root, "bytes"), root["bytes_free"])


def percent_of_inodes(root: Document) -> int:
    return _percent(_used(root, "inodes"), root["inodes_free"])


def fullest(roots: Sequence[Document]) -> Document | None:
    return max(roots, key=lambda root: max(percent_of_bytes(root), percent_of_inodes(root)), default=None)


def sentence(roots: Sequence[Document], totals: Document, command: str) -> tuple[str, str]:
    """What is so, and the command that helps: `/tmp is 61% full; 3.2 GB can be removed now`, `tmpwarden clean`."""
    root = fullest(roots)
    states = [] if root is None else [_state(root) + _end(root)]
    if not totals["removable_entries"]:
        return _capitalized("; ".join([*states, "nothing can be removed now"])) + ".", ""
    least = "at least " if totals.get("at_least") else ""
    count, amount = totals["removable_entries"], totals["removable_bytes"]
    what = size(amount) if amount else plural(count, "entry", "entries")
    return _capitalized("; ".join([*states, f"{least}{what} can be removed now"])) + ": run", command


def _capitalized(words: str) -> str:
    """A sentence begins with a capital; a path stays as it is."""
    return words if words.startswith(("/", "$")) else words[:1].upper() + words[1:]


def _end(root: Document) -> str:
    seconds = root.get("trend", {}).get("full_in_seconds")
    return "" if seconds is None else f" and will be full in about {about(seconds)}"


def _state(root: Document) -> str:
    of_bytes, of_inodes = percent_of_bytes(root), percent_of_inodes(root)
    if of_inodes > of_bytes and of_inodes >= 50:
        return f"{shown(root['path'])} has used {of_inodes}% of its inodes"
    return f"{shown(root['path'])} is full" if of_bytes >= 100 else f"{shown(root['path'])} is {of_bytes}% full"


def _used(root: Document, what: str) -> int:
    used: int = root.get(f"{what}_used", root[f"{what}_total"] - root[f"{what}_free"])
    return used


def _percent(used: int, free: int) -> int:
    whole = used + free
    return min(100, max(0, -(-100 * used // whole))) if whole > 0 else 0


# Findings as columns, each text once: 100,000 of them stay a page that a browser opens at once. Pure.

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
        directory, name = _split_path(each["path"])
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


def _split_path(path: str) -> tuple[str, str]:
    """Directory and name as they are shown; a path that has to be escaped is one name, which a shell reads as it is."""
    words = shown(path)
    if words != path:
        return "", words
    directory, _, name = path.rpartition("/")
    return directory or "/", name


def _owner(owner: Mapping[str, Any]) -> str:
    state = {"alive": "alive", "dead": "gone", "absent": "gone", "unknown": "not known", "none": "no session"}
    words = state.get(owner.get("state", ""), "cannot tell")
    return f"{words} (pid {owner['pid']})" if owner.get("pid") is not None else words
