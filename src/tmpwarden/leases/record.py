"""A lease as text and back. Hand-written because importing json costs a hook more than everything else it does."""

from __future__ import annotations

from ..model.hot import Lease

try:
    from _json import encode_basestring_ascii, make_scanner
except ImportError:  # an interpreter without the C scanner
    from json.encoder import encode_basestring_ascii
    from json.scanner import make_scanner

LONGEST = 1 << 16


class _Plain:
    """What the C scanner asks of a decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012


_scan = make_scanner(_Plain)  # type: ignore[arg-type]


def encode(lease: Lease) -> str:
    """One JSON object on one line."""
    fields = (
        ("path", lease.path),
        ("agent", lease.agent),
        ("session", lease.session),
        ("machine", lease.machine),
        ("pid", lease.pid),
        ("start", lease.start),
        ("boot", lease.boot),
        ("pidns", lease.pidns),
        ("config_home", lease.config_home),
        ("created", lease.created),
    )
    words = [f'"{name}": {_value(value)}' for name, value in fields]
    if lease.others:
        words.append('"others": [' + ", ".join(f"[{pid}, {_value(start)}]" for pid, start in lease.others) + "]")
    return "{" + ", ".join(words) + "}\n"


def decode_object(text: str) -> dict[str, object] | None:
    """A JSON object, or None for anything else. Never raises: the file may be anybody's idea of a record."""
    try:
        found, _ = _scan(text, len(text) - len(text.lstrip()))
    # SystemError: the C scanner has no JSONDecodeError to raise for a torn text as long as nobody imported json
    except (StopIteration, ValueError, RecursionError, SystemError):
        return None
    return found if isinstance(found, dict) else None


def decode(text: str, path: str) -> Lease | None:
    """The lease of the scratch at `path` (where it lies counts, not what it says), or None if this is no lease."""
    fields = decode_object(text)
    if fields is None:
        return None
    agent, session, pid = fields.get("agent"), fields.get("session"), fields.get("pid")
    if not isinstance(agent, str) or not isinstance(session, str) or not is_pid(pid):
        return None
    return Lease(
        path,
        agent,
        session,
        pid=pid,  # type: ignore[arg-type]
        start=whole_number(fields.get("start")),
        boot=_words(fields.get("boot")),
        machine=_words(fields.get("machine")),
        pidns=_words(fields.get("pidns")),
        config_home=_words(fields.get("config_home")),
        created=_seconds(fields.get("created")),
        others=_others(fields.get("others")),
    )


def is_pid(value: object) -> bool:
    return type(value) is int and 0 < value < 1 << 22


def whole_number(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 63 else None


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, int | float) and abs(value) < 1 << 63 else 0.0


def _words(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _others(value: object) -> tuple[tuple[int, int | None], ...]:
    if not isinstance(value, list):
        return ()
    pairs = [pair for pair in value if isinstance(pair, list) and len(pair) == 2 and is_pid(pair[0])]
    return tuple((pid, whole_number(start)) for pid, start in pairs)


def _value(value: str | float | None) -> str:
    if value is None:
        return "null"
    return encode_basestring_ascii(value) if isinstance(value, str) else repr(value)
