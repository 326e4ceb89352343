"""What hosts answered, as one table and as one document; where things go on a host. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator

DOCUMENTATION = """
name: fleet
short_description: Tables of what tmpwarden said on many hosts
description: Filters that turn registered results of C(tmpwarden ... --json) into one table or one document.
"""
_RANK = {"fail": 0, "warn": 1, "unknown": 2}


def scan_table(answers: dict[str, str]) -> str:
    """A row for each user of each host: what is there, what can go. `answers`: host -> stdout, or why there is none."""
    rows = [("HOST", "USER", "UNITS", "SIZE", "CAN GO")]
    total = [0, 0, 0]
    for host, each, why in _each(answers):
        if each is None:
            rows.append((host, "-", "-", "-", why))
            continue
        totals = (each.get("data") or {}).get("totals")
        if totals is None:
            rows.append((host, each["user"], "-", "-", (each.get("error") or {}).get("message", "nothing was told")))
            continue
        numbers = [totals["findings"], totals["bytes"], totals["removable_bytes"]]
        total = [before + more for before, more in zip(total, numbers, strict=True)]
        rows.append((host, each["user"], str(numbers[0]), _size(numbers[1]), _size(numbers[2])))
    rows.append(("all", "", str(total[0]), _size(total[1]), _size(total[2])))
    return _drawn(rows)


def clean_table(answers: dict[str, str]) -> str:
    rows = [("HOST", "USER", "REMOVED", "FREED", "FAILED")]
    for host, each, why in _each(answers):
        if each is None:
            rows.append((host, "-", "-", "-", why))
            continue
        data, error = each.get("data"), (each.get("error") or {}).get("message", "")
        if not isinstance(data, dict):
            rows.append((host, each["user"], "-", "-", error or "nothing was told"))
            continue
        freed = data["freed_bytes"] + data["quarantined_bytes"]
        rows.append((host, each["user"], str(len(data["removed"])), _size(freed), error or str(len(data["failed"]))))
    return _drawn(rows)


def doctor_table(answers: dict[str, str]) -> str:
    """What is wrong, the worst first."""
    found = []
    for host, each, why in _each(answers):
        if each is None:
            found.append((-1, (host, "-", "unreachable", why)))
            continue
        for told in (each.get("data") or {}).get("diagnoses", ()):
            if told["status"] in _RANK:
                found.append((_RANK[told["status"]], (host, each["user"], told["status"], told["summary"])))
    rows = [row for _, row in sorted(found)]
    return _drawn([("HOST", "USER", "STATUS", "WHAT"), *rows]) if rows else "Nothing is wrong on any host."


def fleet_document(answers: dict[str, str]) -> str:
    """All hosts as one answer of `scan --all-users --json`, for `report --from`: paths begin with their host."""
    users = []
    for host, each, _ in _each(answers):
        data = (each or {}).get("data")
        if isinstance(data, dict):
            users.append({**each, "user": f"{host}/{each['user']}", "data": _placed(data, host)})
    return json.dumps({"ok": True, "data": {"users": users}, "error": None, "warnings": []})


def places(users: list[str], accounts: dict[str, list[str]], for_the_host: bool) -> list[dict[str, str]]:
    """Where tmpwarden is installed, and whose each place is; `accounts` as `getent` tells them."""
    host = {"owner": "root", "base": "/opt/tmpwarden", "command": "/usr/local/bin/tmpwarden"}
    homes = {user: accounts[user][4] for user in users}
    return [host] * for_the_host + [
        {"owner": user, "base": f"{home}/.local/lib/tmpwarden", "command": f"{home}/.local/bin/tmpwarden"}
        for user, home in homes.items()
    ]


def _placed(data: dict, host: str) -> dict:
    placed = dict(data)
    for name in ("findings", "roots", "accounts", "unmatched"):
        placed[name] = [_at(row, host) for row in data.get(name, ())]
    return placed


def _at(row: dict, host: str) -> dict:
    return {key: f"{host}:{value}" if key in ("path", "root") else value for key, value in row.items()}


def _each(answers: dict[str, str]) -> Iterator[tuple[str, dict | None, str]]:
    """What each user of each host said; a host that said nothing readable is told once, with the words why."""
    for host, answer in sorted(answers.items()):
        users = _users(answer)
        if users is None:
            yield host, None, _why(answer)
        for each in users or ():
            yield host, each, ""


def _users(answer: str) -> list[dict] | None:
    try:
        return json.loads(answer)["data"]["users"]
    except (ValueError, KeyError, TypeError):
        return None


def _why(answer: str) -> str:
    """Of what is no answer, the words."""
    try:
        error = json.loads(answer)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        error = answer
    return " ".join(str(error).split())[:100] or "it did not answer"


def _size(number: int) -> str:
    value, units = float(number), ["B", "KB", "MB", "GB", "TB"]
    while value >= 1024 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{number} B" if units[0] == "B" else f"{value:.1f} {units[0]}"


def _drawn(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


class FilterModule:
    """Found by Ansible under this name."""

    def filters(self) -> dict:
        return {
            "scan_table": scan_table,
            "clean_table": clean_table,
            "doctor_table": doctor_table,
            "fleet_document": fleet_document,
            "places": places,
        }
