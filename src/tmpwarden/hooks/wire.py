"""JSON in and out without the json module, which alone costs more than the whole hook."""

import posix

LONGEST_PAYLOAD = 32 << 20
MOST_DRAINED = 16 * LONGEST_PAYLOAD


class _Plain:
    """What the C scanner asks its decoder for."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner clears it after each document

    @staticmethod
    def parse_constant(_name: str) -> None:
        return None


def read_all(descriptor: int = 0) -> bytes:
    """Everything on stdin; nothing when it is closed or a terminal, a torn start if longer than agents write."""
    parts, total = [], 0
    try:
        if posix.isatty(descriptor):
            return b""
        while part := posix.read(descriptor, 1 << 18):
            total += len(part)
            parts.append(part)
            if total > LONGEST_PAYLOAD:  # beyond it we only drain: the agent must not meet a broken pipe
                del parts[1:]
            if total > MOST_DRAINED:  # /dev/zero has no end
                break
    except OSError:
        return b""
    return b"".join(parts)


def decode(raw: bytes) -> dict[str, object]:
    """The object in `raw`. Anything else, broken or not, is an empty one: the caller then has no opinion."""
    import _json  # a shared library: the many calls with nothing to do go without

    try:
        scan = _json.make_scanner(_Plain)  # type: ignore[arg-type]
        value, _ = scan(raw.decode().lstrip(), 0)
    # SystemError: the C scanner has no JSONDecodeError to raise for a torn text as long as nobody imported json
    except (ValueError, StopIteration, RecursionError, MemoryError, SystemError):
        return {}
    return value if isinstance(value, dict) else {}


def encode(value: object) -> str:
    """JSON text in ASCII of what `decode` gives."""
    if isinstance(value, str):
        import _json

        return _json.encode_basestring_ascii(value)
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "{" + ",".join(f"{encode(str(key))}:{encode(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(encode, value)) + "]"
    if isinstance(value, int):
        return repr(value)
    return repr(value) if isinstance(value, float) and abs(value) < float("inf") else "null"


def word(payload: dict[str, object], *keys: str) -> str:
    """The first of `keys` that holds a text, or an empty one."""
    for key in keys:
        value = payload.get(key)
        if isinstance(value, str) and value:
            return value
    return ""
