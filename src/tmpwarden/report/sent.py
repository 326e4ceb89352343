"""What another host sent, the output of its `scan --json`: every value checked before anything is drawn. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

_MOST = 1 << 62
Check = Callable[[Any], Any]
Document = dict[str, Any]


def read(text: str) -> tuple[Document, list[Document]]:
    """(data without findings, findings). Raises ValueError with a sentence for the user.

    An envelope or its `data`; of `--all-users`, what all of them have, each agent's name with its user's.
    """
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON; `tmpwarden scan --json > FILE` writes what is drawn here") from None
    data = header["data"] if isinstance(header, dict) and "data" in header else header
    if not isinstance(data, dict) or not ("findings" in data or "users" in data):
        raise ValueError("it contains no findings; create it with `tmpwarden scan --json > FILE`")
    parts = [_part(each, whose) for each, whose in _parts(data)]
    findings = [finding for part in parts for finding in part["findings"]]
    rest: Document = {name: _once([each for part in parts for each in part[name]]) for name in ("roots", "accounts")}
    rest["unmatched"] = [each for part in parts for each in part["unmatched"]]
    return rest | {"totals": totals(findings)}, findings


def totals(findings: Sequence[Mapping[str, Any]]) -> Document:
    """As `scan` adds them up."""
    removable = [each for each in findings if each["verdict"] == "remove"]
    totals_: Document = {
        "findings": len(findings),
        "bytes": sum(each["bytes"] or 0 for each in findings),
        "entries": sum(each["entries"] or 0 for each in findings),
        "removable_bytes": sum(each["bytes"] or 0 for each in removable),
        "removable_entries": sum(each["entries"] or 0 for each in removable),
        "kept_by_reason": dict(Counter(each["reason"] for each in findings if each["verdict"] == "keep")),
    }
    is_at_least = any(each["bytes"] is None or each.get("at_least") for each in findings)
    return totals_ | ({"at_least": True} if is_at_least else {})


def _parts(data: Document) -> Iterator[tuple[Any, str]]:
    if "users" not in data:
        yield data, ""
        return
    for each in _list(data["users"]):
        if isinstance(each, dict) and each.get("data") is not None:
            yield each["data"], _text(each.get("user"))


def _part(data: Any, whose: str) -> Document:
    if not isinstance(data, dict):
        raise ValueError("its data is not an object")
    findings = [_row(each, _FINDING, f"finding {n}") for n, each in enumerate(_list(data.get("findings")), 1)]
    for each in findings if whose else ():
        each["agent"] = f"{whose}: {each['agent']}"
    rows = ((name, fields, _list(data.get(name, []))) for name, fields in _OTHERS.items())
    others = {name: [_row(each, fields, f"one of its {name}") for each in listed] for name, fields, listed in rows}
    return {"findings": findings} | others


def _once(rows: Sequence[Document]) -> list[Document]:
    """Several users see the same roots."""
    return list({each.get("path", each.get("root")): each for each in rows}.values())


def _row(value: Any, fields: Mapping[str, tuple[Check, bool]], what: str) -> Document:
    """Only what is known, each of its kind."""
    if not isinstance(value, dict):
        raise ValueError(f"{what} is no object")
    row: Document = {}
    for name, (check, is_needed) in fields.items():
        if name in value:
            try:
                row[name] = check(value[name])
            except ValueError as problem:
                raise ValueError(f"{what}: {name} {problem}") from None
        elif is_needed:
            raise ValueError(f"{what}: {name} is missing")
    return row


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("is not a text")
    return value


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _MOST:
        raise ValueError("is not a count")
    return value


def _maybe(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("is neither true nor false")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("a list is missing in it")
    return value


def _verdict(value: Any) -> str:
    if value not in ("remove", "keep"):
        raise ValueError("is neither remove nor keep")
    return str(value)


def _of(fields: Mapping[str, tuple[Check, bool]]) -> Check:
    return lambda value: _row(value, fields, "it")


def _each(check: Check) -> Check:
    return lambda value: [check(each) for each in _list(value)]


def _fields(needed: Mapping[str, Check], **optional: Check) -> dict[str, tuple[Check, bool]]:
    return {k: (v, True) for k, v in needed.items()} | {k: (v, False) for k, v in optional.items()}


_OWNER = _fields({"state": _text}, pid=_count, session=_text)
_WITNESS = _fields({"kind": _text}, detail=_text, pid=_count, command=_text)
_FINDING = _fields(
    {
        "path": _text,
        "agent": _text,
        "litter": _text,
        "bytes": _maybe(_count),
        "entries": _maybe(_count),
        "age_seconds": _maybe(_count),
        "owner": _of(_OWNER),
        "witnesses": _maybe(_each(_of(_WITNESS))),
        "verdict": _verdict,
        "reason": _text,
    },
    count=_count,
    undoable=_flag,
    at_least=_flag,
    holds_git=_flag,
    detail=_text,
)
_SPACES = ("bytes_total", "bytes_free", "inodes_total", "inodes_free")
_SHARES = ("matched_bytes", "unmatched_bytes", "others_bytes", "quarantined_bytes")
_GROUP = ("count", "bytes", "entries", "newest_seconds")
_OTHERS = {
    "roots": _fields(
        {"path": _text, "filesystem": _text} | dict.fromkeys(_SPACES, _count), bytes_used=_count, inodes_used=_count
    ),
    "accounts": _fields({"root": _text} | dict.fromkeys(_SHARES, _count), other_bytes=_maybe(_count), at_least=_flag),
    "unmatched": _fields({"root": _text, "shape": _text} | dict.fromkeys(_GROUP, _count), at_least=_flag),
}
