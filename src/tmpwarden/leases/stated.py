"""Names that calls of one session are about to make in a temp root: stated before a call, noted as made after it.

A call that the user denied, that failed, or that nobody heard of again claims nothing: only its end gives a statement
the time in which its names may have been made. A small file of the session's own, empty when nothing is open. Light:
hooks read and write this.
"""

import posix
import time

from ..redaction import first_words
from ..small_json import decode_object, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SUFFIX = ".stated"
_FORGOTTEN_AFTER_NS = 3 * 86400 * 10**9
_MOST_BYTES = 1 << 18


class Statement:
    """What one call said that it would make, when, and who runs its session."""

    __slots__ = (
        "agent", "call", "command", "goes_on", "others", "paths", "pid", "session", "since_ns", "start", "time_ns",
        "until_ns",
    )  # fmt: skip

    def __init__(
        self,
        agent: str,
        session: str,
        call: str,
        *,
        command: str,
        paths: "list[str]",
        others: "list[str]",
        pid: int,
        start: int | None,
        time_ns: int = 0,
        since_ns: int = 0,
        until_ns: int = 0,
        goes_on: bool = False,
    ) -> None:
        self.agent, self.session = agent, session
        self.call = call  # as the agent names it, before and after
        self.command = first_words(command)
        self.paths = paths
        self.others = others  # names that it mentions and that somebody else has
        self.pid, self.start = pid, start  # of the agent
        self.time_ns = time_ns or time.time_ns()
        self.since_ns, self.until_ns = since_ns, until_ns  # the call's own times; 0 until it has ended well
        self.goes_on = goes_on  # in the background, after its end


def state_names(file: str, statement: Statement) -> None:
    """Before a call. A full or read-only disk forgets: nobody is harmed by that."""
    _change(file, lambda text: text + _encoded(statement), posix.O_CREAT)


def read(file: str) -> "list[Statement]":
    statements: list[Statement] = []

    def keep(text: str) -> None:
        statements.extend(_statements(text))

    _change(file, keep)
    return statements


def end(file: str, call: str, times_ns: "tuple[int, int] | None", *, goes_on: bool) -> None:
    """The call is over: it has made its names in that time, or, where it did not end well, nothing. Others still run.

    Agents that give their calls no names of their own may have stated it and never run it: the last one counts."""

    def edit(text: str) -> str:
        statements = _statements(text)
        mine = [one for one in statements if one.call == call and not one.until_ns]
        for one in mine[-1:] if times_ns is not None else ():
            one.since_ns, one.until_ns = times_ns or (0, 0)
            one.goes_on = goes_on
        return "".join([_encoded(one) for one in statements if one.until_ns or one not in mine])

    _change(file, edit)


def drop(file: str, noted: "list[Statement]") -> None:
    """What these have made is noted; those that go on are looked at again."""
    dropped = {(one.call, one.time_ns) for one in noted if not one.goes_on}
    if dropped:
        _change(
            file, lambda text: "".join([_encoded(o) for o in _statements(text) if (o.call, o.time_ns) not in dropped])
        )


def _encoded(statement: Statement) -> str:
    return encode({name: getattr(statement, name) for name in Statement.__slots__}) + "\n"


def _statements(text: str) -> "list[Statement]":
    statements, since_ns = [], time.time_ns() - _FORGOTTEN_AFTER_NS
    for line in text.split("\n"):
        entry = decode_object(line) if line else None
        if entry is not None and _is_whole(entry) and entry["time_ns"] >= since_ns:  # type: ignore[operator]
            statements.append(Statement(entry.pop("agent"), entry.pop("session"), entry.pop("call"), **entry))  # type: ignore[arg-type]
    return statements


def _is_whole(entry: "dict[str, object]") -> bool:
    texts, numbers = ("agent", "session", "call", "command"), ("pid", "time_ns", "since_ns", "until_ns")
    return (
        entry.keys() == set(Statement.__slots__)
        and all(isinstance(entry[name], str) for name in texts)
        and all(type(entry[name]) is int for name in numbers)
        and all(_are_texts(entry[name]) for name in ("paths", "others"))
        and type(entry["goes_on"]) is bool
        and (entry["start"] is None or type(entry["start"]) is int)
    )


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _change(file: str, edit: "Callable[[str], str | None]", flags: int = 0) -> None:
    """Read it, and write what `edit` makes of it unless that is None; alone, because calls run side by side."""
    try:
        fd = posix.open(file, posix.O_RDWR | posix.O_CLOEXEC | posix.O_NOFOLLOW | flags, 0o600)
    except OSError:
        return
    try:
        posix.lockf(fd, posix.F_LOCK, 0)
        before = posix.read(fd, _MOST_BYTES).decode("utf-8", "surrogateescape")
        after = edit(before)
        if after is not None and after != before and len(after) < _MOST_BYTES:
            posix.lseek(fd, 0, 0)
            posix.ftruncate(fd, posix.write(fd, after.encode("utf-8", "surrogateescape")))
    except OSError:
        return
    finally:
        posix.close(fd)
