"""Tool servers to which nobody can ever speak again: which those are, and since when that is known.

An agent talks to such a server through its standard input. When the agent is killed, the other end closes; most servers
end then, and those that do not wait for ever. One look may meet a server that is just being handed over or ending, so
it takes two looks, ten minutes apart, that find the same process with the same closed pipe.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..model.processes import Unheard
from ..oskit.files import state_file
from ..oskit.proc.connections import NoFarEnd, far_end
from ..oskit.proc.vitals import Vitals

BETWEEN_LOOKS_NS = 10 * 60 * 1_000_000_000
_NAME, _MOST_REMEMBERED = "unheard.json", 4096
_STDIN, _STDOUT = 0, 1


def closed_input(one: Vitals) -> str | None:
    """How the kernel names the pipe or socket pair that is its standard input, if that has no other end; None also
    where that was not measured."""
    end = far_end(one.pid, _STDIN)
    return end.identity if isinstance(end, NoFarEnd) and not end.is_terminal else None


def lost_input(one: Vitals) -> str:
    """Why nobody can type or send it anything any more; "" where somebody can, or that was not measured."""
    end = far_end(one.pid, _STDIN)
    if not isinstance(end, NoFarEnd):
        return ""
    return "its terminal is closed" if end.is_terminal else "the other end of its standard input is closed"


def has_no_listener(one: Vitals) -> bool:
    """Whether nobody reads its answers: `server < request | tee log &` is still read, and `server > log` is a file."""
    end = far_end(one.pid, _STDOUT)
    return isinstance(end, NoFarEnd) and not end.is_terminal


def since(unheard_by_pid: Mapping[int, Unheard], boot: str | None, now_ns: int, *, may_note: bool) -> dict[int, int]:
    """When each of these was first seen like this. What is seen for the first time is written down as of now."""
    if boot is None:
        return {}
    path = state_file.path(_NAME)
    known = _read(path, boot)
    first = {one: min(known.get(_key(one, boot), now_ns), now_ns) for one in unheard_by_pid.values()}
    if may_note and {_key(one, boot): at for one, at in first.items()} != known:
        _write(path, first, boot)
    return {one.pid: at for one, at in first.items()}


_Key = tuple[int, int, str, str]


def _key(one: Unheard, boot: str) -> _Key:
    return one.pid, one.start, boot, one.input


def _read(path: str, boot: str) -> dict[_Key, int]:
    entries = state_file.read(path)
    known: dict[_Key, int] = {}
    for entry in entries if isinstance(entries, list) else ():
        match entry:
            case {"pid": int(pid), "start": int(start), "boot": str(of), "input": str(name), "first_ns": int(first)}:
                if of == boot and first > 0:
                    known[pid, start, of, name] = first
            case _:
                continue
    return known


def _write(path: str, first: Mapping[Unheard, int], boot: str) -> None:
    oldest = sorted(first, key=lambda one: first[one])[:_MOST_REMEMBERED]
    fields = [
        {"pid": one.pid, "start": one.start, "boot": boot, "input": one.input, "first_ns": first[one]} for one in oldest
    ]
    state_file.write(path, fields)
