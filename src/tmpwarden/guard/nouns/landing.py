"""Where a path really leads, and whether that is inside a root. By component, symlinks followed as the kernel would."""

from .analysis import DELETE, PathUse
from .names import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Look = Callable[[str], tuple[str | None, bool]]

SINKS = names("/dev/null /dev/zero /dev/full /dev/tty /dev/stdin /dev/stdout /dev/stderr /dev/random /dev/urandom")


def is_sink(path: str) -> bool:
    """Devices that keep nothing; they are never outside."""
    return path in SINKS or is_descriptor(path)


def is_descriptor(path: str) -> bool:
    """/dev/fd/NUMBER. Digits of other scripts are none to bash."""
    return path.startswith("/dev/fd/") and path[8:].isdigit() and path.isascii()


def real(path: str, look: "Look") -> str | None:
    """The path with every symlink followed, the last one too; None: not measured."""
    parent, _ = look(path.rstrip("/") + "/.")
    return parent


def landing(use: PathUse) -> str | None:
    """The place that this use of a path changes or reads, or None where it is not proven.

    `resolved` has followed what the program would follow: writing goes through a link in the last place, removing and
    renaming act on the link itself. What a pattern matches may be a link, so only removing it is proven.
    """
    if use.path is not None and is_sink(use.path):
        return use.path
    if use.path is None or (use.is_glob and use.mode != DELETE):
        return None
    return use.resolved


def expand(roots: "tuple[str, ...]", tokens: "dict[str, tuple[str, ...]]", look: "Look") -> "tuple[str, ...]":
    """`@scratch`, `@project`, `.`, `~` and plain paths as real directories. The whole disk is no root."""
    found: list[str] = []
    for root in roots:
        head, slash, rest = root.partition("/")
        for base in tokens.get(head, (root,) if root.startswith("/") else ()):
            whole = base if root.startswith("/") else base + slash + rest
            resolved = real(whole, look)
            if resolved is not None and resolved not in ("/", ""):
                found.append(resolved)
    return tuple(found)
