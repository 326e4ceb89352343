"""Whether what a session made by name is still its own: every date of it lies within a call of that session.

Of each session that made something a small file remembers when its calls ran, what its processes were seen writing, and
since when it is gone. Light: hooks read and write this.
"""

import posix
import time

from ..model.belongings import Birth
from ..small_files import APPENDED, session_key, write
from ..stamped import private_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..oskit.files.dated import Dated

SUFFIX = ".calls"
MOST_MEMBERS = 5_000  # that are looked at while an agent waits for the guard's word
_MOST_BYTES = 1 << 17
_TICK_NS = 10**7  # the clock of files runs a little behind
SLACK_NS = 2 * 10**9  # between the end of a command and the hook after it
_CHANGED = "was changed outside the calls of that session"


def window(asked_ns: int, took_ns: int, ended_ns: int) -> tuple[int, int]:
    """From when to when a call may have made things. The hook before it comes before the wait for a permission, so the
    length of the call counts; of an agent that does not tell it only the last moments are believed."""
    return max(asked_ns - _TICK_NS, ended_ns - took_ns - SLACK_NS), ended_ns


class Windows:
    """What is remembered of one session."""

    __slots__ = ("_held", "_since", "_until", "gone_ns")

    def __init__(self, lines: "list[str]") -> None:
        self._held: dict[tuple[int, ...], int] = {}
        self.gone_ns = 0  # the first look that found it gone; 0: it lives, or nobody has looked
        calls = []
        for line in lines:
            kind, *words = line.split(" ")
            numbers = tuple([int(word) for word in words if word.isdigit()])
            if kind == "call" and len(words) == len(numbers) == 2:
                calls.append(numbers)
            elif kind == "held" and len(words) == len(numbers) == 4:
                self._held[numbers[:3]] = numbers[3]
            elif kind == "gone" and len(words) == len(numbers) == 1:
                self.gone_ns = numbers[0]
        self._since: list[int] = []
        self._until: list[int] = []
        for since, until in sorted(calls):
            if self._until and since <= self._until[-1]:
                self._until[-1] = max(self._until[-1], until)
            else:
                self._since.append(since)
                self._until.append(until)

    @property
    def last_ns(self) -> int:
        """The end of the last call."""
        return self._until[-1] if self._until else 0

    def cover(self, at_ns: int) -> bool:
        from bisect import bisect_right

        place = bisect_right(self._since, at_ns)
        return place > 0 and at_ns <= self._until[place - 1]

    def saw_writing(self, seen: "Dated", at_ns: int) -> bool:
        """Whether a process of the session was seen with the file open for writing, at that time or later."""
        return at_ns <= self._held.get((seen.device, seen.inode, seen.born_ns or 0), 0)


def note_call(state: str, session: str, times_ns: tuple[int, int]) -> None:
    """After a call that ended well. A full or read-only disk forgets: less is the session's then."""
    _append(state, session, f"call {times_ns[0]} {times_ns[1]}")


def read(state: str, session: str) -> Windows:
    return Windows(private_lines(_file(state, session), 4 * _MOST_BYTES))


def doubt(state: str, birth: Birth, most: int = 0) -> str:
    """Why it does not count as its session's any more, in words; "" while it does. `most`: members to look at."""
    of_directory = ""
    for at, (path, seen, words) in enumerate(_members(birth, read(state, birth.session))):
        if words and (most or seen is None or not seen.is_directory):
            return f"{path or 'it'} {words}"
        of_directory = of_directory or (f"{path or 'it'} {words}" if words else "")  # what is in it says more to people
        if most and at >= most:
            return "it holds too much to look at it all"
    return of_directory


def _members(birth: Birth, windows: Windows) -> "Iterator[tuple[str, Dated | None, str]]":
    from ..oskit.files.dated import dated_tree

    for path, seen in dated_tree(birth.path):
        if not path and (seen is None or (seen.device, seen.inode, seen.born_ns) != birth.identity):
            yield path, seen, "is not the entry that was made then"
            return
        yield path, seen, _trouble(seen, birth, windows)


def _trouble(seen: "Dated | None", birth: Birth, windows: Windows) -> str:
    if seen is None:
        return "could not be looked at"
    if seen.born_ns is None:
        return "is on a file system that does not record creation times"
    if seen.device != birth.device:
        return "is another file system"
    if seen.uid != posix.geteuid():
        return "belongs to another user"
    if seen.is_linked:
        return "has another name, too"
    if not windows.cover(seen.born_ns):
        return "was not made in a call of that session"
    dates = (seen.modified_ns, seen.changed_ns)
    return "" if all(windows.cover(at) or windows.saw_writing(seen, at) for at in dates) else _CHANGED


def look_for_writers(state: str, birth: Birth) -> None:
    """What was changed outside the calls, and a process of the session has open for writing now: its hand it was."""
    from ..oskit.proc.open_files import written_by_session as written_by

    at_ns = time.time_ns()
    strays = {}
    for path, seen, words in _members(birth, read(state, birth.session)):
        if words and (words != _CHANGED or seen is None):
            return  # nothing makes it the session's again
        if words and seen is not None:
            strays[f"{birth.path}/{path}".rstrip("/")] = seen
    for name, inode in written_by(birth.session) if strays else ():
        stray = strays.get(name)
        if stray is not None and stray.inode == inode:
            _append(state, birth.session, f"held {stray.device} {inode} {stray.born_ns} {at_ns}")


def gone_since_ns(state: str, session: str, is_gone: bool, now_ns: int) -> int:
    """Since when the session is known to be gone; now, while it is not. The first look that finds it so is noted."""
    windows = read(state, session)
    if is_gone and windows.gone_ns:
        return max(windows.gone_ns, windows.last_ns)
    if is_gone or windows.gone_ns:
        _append(state, session, f"gone {now_ns if is_gone else 0}")
    return now_ns


def _file(state: str, session: str) -> str:
    return f"{state}/hooks/{session_key(session)}{SUFFIX}"


def _append(state: str, session: str, line: str) -> None:
    path = _file(state, session)
    try:
        if posix.stat(path).st_size > _MOST_BYTES:
            from ..oskit.files import atomic

            lines = private_lines(path, 4 * _MOST_BYTES)
            atomic.write(path, "\n".join([*lines[len(lines) // 2 : -1], ""]).encode())
    except FileNotFoundError:
        pass  # the first line of all
    except OSError:
        return
    write(path, f"{line}\n".encode(), APPENDED)
