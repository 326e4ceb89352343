"""What an agent writes to a hook's stdin: read whole, and its texts by name. Hot path."""

import posix

LONGEST_PAYLOAD = 32 << 20
MOST_DRAINED = 16 * LONGEST_PAYLOAD


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


def text_field(payload: dict[str, object], *keys: str) -> str:
    """The first of `keys` that holds a text, or an empty one."""
    for key in keys:
        value = payload.get(key)
        if isinstance(value, str) and value:
            return value
    return ""
