"""Paths as words: joined, normalised, resolved through the caller's look(), and whether they lie inside a root."""

from __future__ import annotations

from .analysis import CREATE, DELETE, READ, PathUse
from .fields import Field
from .names import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Look = Callable[[str], tuple[str | None, bool]]


MAX_CLIMBS = 64


def normal_form(path: str) -> str:
    """Absolute, without . and .. and doubled slashes; as bash's cd does it, by the letters alone."""
    if "/." not in path and "//" not in path and (path[-1] != "/" or path == "/"):
        return path
    kept: list[str] = []
    for name in path.split("/"):
        if name == "..":
            if kept:
                kept.pop()
        elif name and name != ".":
            kept.append(name)
    return "/" + "/".join(kept)


def path_from(cwd: str | None, path: str) -> str | None:
    if path.startswith("/"):
        return path
    return None if cwd is None else f"{cwd}/{path}"


def resolve_path(path: str, follows: bool, look: Look) -> str | None:
    """Where it really lies. `follows`: its last component too, where a program would follow a link."""
    if "/../" in path or path.endswith("/.."):
        return _climbing(path, follows, look)
    follows = follows or path.endswith(("/", "/."))
    path = normal_form(path)
    if path == "/":
        return "/"
    parent = look(path + "/_" if follows else path)[0]
    if parent is None or follows:
        return parent
    return f"{'' if parent == '/' else parent}{path[path.rindex('/') :]}"


def _climbing(path: str, follows: bool, look: Look) -> str | None:
    """The parent of a link's target is not the parent of the link: go step by step."""
    here, climbed = "", 0
    for name in path.split("/"):
        if name == "..":
            climbed += 1
            real = resolve_path(here or "/", True, look)
            if real is None or climbed > MAX_CLIMBS:
                return None
            here = real.rsplit("/", 1)[0]
        elif name and name != ".":
            here = f"{here}/{name}"
    return resolve_path(here or "/", follows or path.endswith(("/", "/.", "/..")), look)


def uses(field: Field, offset: int, mode: str, cwds: tuple[str | None, ...], look: Look, source: str) -> list[PathUse]:
    """One use for every directory that the shell may be in."""
    span = (field.word.start, field.word.end) if field.word is not None and source else (-1, -1)
    raw = source[span[0] : span[1]] if span[0] >= 0 else field.text or ""
    if field.stem is None:
        return [PathUse(raw, None, mode, span=span)]
    path = field.stem[offset:]
    path_uses = []
    for cwd in cwds if not path.startswith("/") else (None,):
        full = path_from(cwd, path)
        if full is None:
            path_uses.append(PathUse(raw, None, mode, span=span))
        elif field.pattern_at >= offset:
            path_uses.append(
                _pattern_use(raw, full, field.pattern_at - offset + len(full) - len(path), mode, look, span)
            )
        else:
            real = resolve_path(full, mode != DELETE and mode != CREATE, look)
            path_uses.append(PathUse(raw, normal_form(full), mode, resolved=real, span=span))
    return path_uses


def _pattern_use(raw: str, full: str, at: int, mode: str, look: Look, span: tuple[int, int]) -> PathUse:
    """Whatever matches lies in the directory before the pattern, unless the pattern is a directory that is a link."""
    directory = full[: full.rindex("/", 0, at + 1) + 1]
    pattern = full[len(directory) :]
    use = PathUse(raw, normal_form(directory), mode, is_glob=True, span=span)
    use.pattern = (normal_form(directory), pattern)
    if pattern.startswith("."):
        use.path = None  # .* has been known to match ..
    elif "/" not in pattern and mode in (DELETE, CREATE, READ):
        use.resolved = resolve_path(directory, True, look)
    elif "/.." in pattern:
        use.path = None
    return use


SINKS = names("/dev/null /dev/zero /dev/full /dev/tty /dev/stdin /dev/stdout /dev/stderr /dev/random /dev/urandom")


def is_sink(path: str) -> bool:
    """Devices that keep nothing; they are never outside."""
    return path in SINKS or is_descriptor(path)


def is_descriptor(path: str) -> bool:
    """/dev/fd/NUMBER. Digits of other scripts are none to bash."""
    return path.startswith("/dev/fd/") and path[8:].isdigit() and path.isascii()


def real(path: str, look: Look) -> str | None:
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


def expand(roots: tuple[str, ...], tokens: dict[str, tuple[str, ...]], look: Look) -> tuple[str, ...]:
    """`@scratch`, `@project`, `.`, `~` and plain paths as real directories. The whole disk is no root."""
    paths: list[str] = []
    for root in roots:
        head, slash, rest = root.partition("/")
        for base in tokens.get(head, (root,) if root.startswith("/") else ()):
            whole = base if root.startswith("/") else base + slash + rest
            resolved = real(whole, look)
            if resolved is not None and resolved not in ("/", ""):
                paths.append(resolved)
    return tuple(paths)
