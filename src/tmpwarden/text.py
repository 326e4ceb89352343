"""Durations, sizes and names as people read and write them. Pure."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_LONGEST = 100 * 365 * 86400
_BYTES = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def parse_duration(text: str) -> int:
    """Seconds in `90s`, `30m`, `1h30m`, `7d`. Raises ValueError with a sentence for the user."""
    rest, total, last = text.strip(), 0, _LONGEST + 1
    if not rest:
        raise ValueError("a duration needs a number and a unit, such as 90s, 30m, 1h30m or 7d")
    while rest:
        digits = len(rest) - len(rest.lstrip("0123456789"))
        unit = _SECONDS.get(rest[digits : digits + 1])
        if not 0 < digits <= 12 or unit is None or unit >= last or not rest.isascii():
            raise ValueError(f"{shown(text)} is not a duration; write 90s, 30m, 1h30m, 24h or 7d")
        total += int(rest[:digits]) * unit
        rest, last = rest[digits + 1 :], unit
    if total > _LONGEST:
        raise ValueError(f"{shown(text)} is more than 100 years")
    return total


def duration(seconds: float) -> str:
    """The two largest units that are not zero: `2d4h`, `1h30m`, `45s`."""
    left, words = max(0, int(seconds)), []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        if left >= size:
            words.append(f"{left // size}{unit}")
            left %= size
        elif words:
            break
        if len(words) == 2:
            break
    return "".join(words) or "0s"


def about(seconds: float) -> str:
    """As exact as a forecast can be: minutes below two hours, hours below two days, then days."""
    if seconds < 2 * 3600:
        return f"{max(1, round(seconds / 60))} min"
    return f"{round(seconds / 3600)} h" if seconds < 48 * 3600 else f"{round(seconds / 86400)} days"


def parse_size(text: str) -> int:
    """Bytes in `800M`, `2G`, `1.5G`, `4096`; K, M, G and T are powers of 1024."""
    word = text.strip().upper().removesuffix("B").removesuffix("I") if text.strip() else ""
    unit = word[-1:] if word[-1:] in _BYTES and not word[-1:].isdigit() else ""
    number = word.removesuffix(unit) if unit else word
    whole, _, part = number.partition(".")
    if (
        not (whole.isascii() and whole.isdigit() and ((part.isascii() and part.isdigit()) or not part))
        or len(number) > 18
    ):
        raise ValueError(f"{shown(text)} is not a size; write 800M, 2G or 500K")
    return int(float(number) * _BYTES[unit])


def size(count: int) -> str:
    """`612.0 MB`, with powers of 1024, as df -h counts."""
    amount = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if abs(amount) < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TB"


def plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def shown(name: str) -> str:
    """A name from disk, safe on a terminal: quoted as ls does when it holds control or undecodable characters."""
    if name.isprintable():  # surrogates are not
        return name
    out = []
    for char in name:
        if "\udc80" <= char <= "\udcff":
            out.append(f"\\x{ord(char) - 0xDC00:02x}")
        elif char.isprintable() and char not in "\\'":
            out.append(char)
        elif char in "\\'":
            out.append("\\" + char)
        else:
            out.append({"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\e"}.get(char) or _hex(char))
    return "$'" + "".join(out) + "'"


def quoted(word: str, *, in_one_line: bool = False) -> str:
    """A word of a command for a person to copy: as every shell reads it, else as bash, ksh and zsh read any byte.
    `in_one_line`: what would break the line is written as those read it, too."""
    import shlex

    is_plain = all(c.isprintable() or (c in "\n\t" and not in_one_line) for c in word)
    return shlex.quote(word) if is_plain else shown(word)


def _hex(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def nearest(word: str, known: "Iterable[str]") -> str | None:
    """What somebody may have meant by a word that nobody knows."""
    import difflib  # only when something is wrong already

    return next(iter(difflib.get_close_matches(word, list(known), 1)), None)


def did_you_mean(word: str, known: "Iterable[str]", form: str = "{0}") -> str:
    """`; did you mean scan?`, or nothing."""
    near = nearest(word, known)
    return f"; did you mean {form.format(near)}?" if near else ""


def is_within(path: str, directory: str) -> bool:
    """By component: /tmp/a is within /tmp and within /tmp/a, /tmp/ab is not within /tmp/a."""
    return path == directory or path.startswith(directory if directory.endswith("/") else f"{directory}/")
