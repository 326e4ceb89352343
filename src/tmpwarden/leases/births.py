"""What appeared in a temp root while an agent's command ran: noted afterwards, told by `why`, sometimes owned.

An owned birth is one that its session's own words name: it is that session's until another hand touches it
(leases/claims.py), and never a proof of anything else. Light: hooks read and write this.
"""

import posix

from ..model.belongings import Birth, Lease
from ..small_files import APPENDED, write
from ..small_json import decode_object, encode
from ..stamped import private_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..oskit.files.dated import Dated

FILE = "births.jsonl"
_FORGOTTEN_AFTER_S, _FORGOTTEN = 90 * 86400, "(a command of long ago)"
_MOST_BYTES = 1 << 20  # then it is written anew, with what is still there
_FIELDS = ("path", "device", "inode", "born_ns", "agent", "session", "command")
_NUMBERS = ("device", "inode", "born_ns")


def is_there(birth: Birth) -> bool:
    """Whether its name still means the very entry that was noted."""
    from ..oskit.files.dated import dated_tree

    return is_same(birth, next(dated_tree(birth.path))[1])


def is_same(birth: Birth | None, seen: "Dated | None") -> bool:
    if birth is None or seen is None:
        return False
    return (seen.device, seen.inode) == (birth.device, birth.inode) and seen.born_ns in (birth.born_ns, None)


def note(state: str, births: "list[Birth]") -> None:
    """After a call."""
    if births:
        _append(state, [_fields(birth) for birth in births])


def note_owner(state: str, lease: Lease) -> None:
    """The process whose session owns what is noted: a scratch's lease goes with the scratch, births may stay."""
    from .record import encode as encoded

    if not any(_is_same(lease, known) for known in owners(state)):
        _append(state, [{"owner": decode_object(encoded(lease))}])


def owners(state: str) -> "tuple[Lease, ...]":
    """The last process that was noted for each session."""
    from .record import decode

    leases = {}
    for line in _lines(f"{state}/{FILE}"):
        entry = decode_object(line) if line.startswith('{"owner"') else None
        lease = decode(encode(entry["owner"]), "") if entry else None
        if lease is not None:
            leases[lease.agent, lease.session] = lease
    return tuple(leases.values())


def _is_same(one: Lease, other: Lease) -> bool:
    names = ("agent", "session", "pid", "start", "boot", "machine", "pidns")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def read(state: str) -> "dict[str, Birth]":
    """The last birth noted for each path."""
    births: dict[str, Birth] = {}
    for line in _lines(f"{state}/{FILE}"):
        birth = _birth(line)
        if birth is not None:
            births[birth.path] = _merged(births.get(birth.path), birth)
    return births


def _merged(first: Birth | None, second: Birth) -> Birth:
    """What two notes of one name mean: what two sessions claim is nobody's, and one that only saw it claims nothing."""
    if first is None or first.identity != second.identity:
        return second
    if first.session != second.session and first.owned and second.owned:
        first.demoted = "is claimed by another session, too"
        return first
    return second if second.owned or not first.owned else first


def _birth(text: str) -> Birth | None:
    line = decode_object(text) if text else None
    if line is None or not all(isinstance(line.get(name), int if name in _NUMBERS else str) for name in _FIELDS):
        return None
    return Birth(*(line[name] for name in _FIELDS), owned=line.get("owned") is True)  # type: ignore[arg-type, misc]  # looked at just above


def is_owned(state: str, session: str, path: str) -> bool:
    """For the guard: whether `path` is a birth of this session, and still its own. Decodes what names it."""
    birth, encoded_path = None, encode(path)
    for line in _lines(f"{state}/{FILE}"):
        # before a tool call: only lines that name it are worth decoding
        if encoded_path in line and (birth_of_line := _birth(line)) is not None and birth_of_line.path == path:
            birth = _merged(birth, birth_of_line)
    if birth is None or birth.session != session or not birth.is_claimed:
        return False
    from .claims import MOST_MEMBERS, doubt

    return not doubt(state, birth, MOST_MEMBERS)


def _append(state: str, lines: "list[dict[str, object]]") -> None:
    """A full or read-only disk forgets: nobody is harmed by that."""
    path = f"{state}/{FILE}"
    try:
        if posix.stat(path).st_size > _MOST_BYTES:
            _compact(path)
    except FileNotFoundError:
        pass  # the first line of all
    except OSError:
        return
    write(path, "".join(f"{encode(line)}\n" for line in lines).encode("utf-8", "surrogateescape"), APPENDED)


def forget_old(state: str, now_s: float) -> None:
    """What was noted long ago and is no longer there, and the words of the commands whose work still is."""
    path, before_ns = f"{state}/{FILE}", int((now_s - _FORGOTTEN_AFTER_S) * 10**9)
    if any(birth and birth.born_ns < before_ns and birth.command != _FORGOTTEN for birth in map(_birth, _lines(path))):
        _compact(path, before_ns)


def _fields(birth: Birth) -> "dict[str, object]":
    return {name: getattr(birth, name) for name in (*_FIELDS, "owned")}


def _compact(path: str, before_ns: int = 0) -> None:
    """Forget what is gone; of what is left the newer half, if that is still too much; and the words of calls before
    that time."""
    from ..oskit.files import atomic

    kept = ""
    for line in _lines(path):
        birth = _birth(line)
        if birth is not None and birth.born_ns < before_ns:
            birth.command = _FORGOTTEN
        if birth is not None and is_there(birth):
            kept += f"{encode(_fields(birth))}\n"
        elif birth is None and line.startswith('{"owner"'):
            kept += f"{line}\n"
    if len(kept) > _MOST_BYTES // 2:
        # the cut goes through the middle of a line, which is dropped
        kept = kept[-_MOST_BYTES // 2 :].partition("\n")[2]
    atomic.write(path, kept.encode("utf-8", "surrogateescape"))


def _lines(path: str) -> "list[str]":
    return private_lines(path, 4 * _MOST_BYTES)
